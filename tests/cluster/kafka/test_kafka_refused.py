"""A run that Kafka does not let in is refused before it claims the checkpoint."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka.admin import AdminClient

from hamlet.cli.enums import OutputFormat
from hamlet.cli.ray import OutputOptions, Sinks
from hamlet.cli.stderr import Notices
from hamlet.job import job_run
from hamlet.job.input_resolver import resolve_input
from hamlet.job.job_options import JobOptions
from hamlet.job.resolved_input import InputOptions
from pipeline.records import COLUMNS, WORKLOAD, manifest_of
from runtime.errors import HamletError
from runtime.io.reader import ReadRequest
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.settings import Settings
from runtime.types.schema import Schema
from spark_ingest.kafka.address import parse_address
from spark_ingest.sinks.kafka import KafkaSink
from tools.kafka import USER
from tools.patience import PATIENCE_S


class Quiet:
    def __getattr__(self, name: str) -> object:
        return lambda *_: None


@pytest.fixture
def files(tmp_path: Path) -> str:
    folder = tmp_path / "events"
    folder.mkdir()
    pq.write_table(pa.table({"time": [1], "type": ["A"]}, COLUMNS), folder / "1.parquet")
    return str(folder)


@pytest.fixture
def wrong_password(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f"sasl.username={USER}\nsasl.password=wrong\n"
    )
    return path


def owner_of(folder: Path, source: str) -> CheckpointStore:
    """A run that has committed an epoch and goes on."""
    checkpoints = CheckpointStore(BlobStore(str(folder / "checkpoint")))
    checkpoints.claim(pytest.fail)
    checkpoints.commit(manifest_of(0, source=source, shards=8), {})
    return checkpoints


def refused(owner: CheckpointStore, input: InputOptions, output: OutputOptions) -> HamletError:
    """What the run is refused with. The owner goes on."""
    before = contents(owner)
    with pytest.raises(HamletError) as raised:
        job_run.run(
            WORKLOAD,
            JobOptions(checkpoint=owner.store.address, settings=Settings()),
            resolve_input(input),
            lambda *_: pytest.fail("nothing is started"),
            Quiet(),  # type: ignore[arg-type]
            lambda: False,
            lambda outcome: None,
            check_output=Sinks(output, False, Notices()).check,
        )
    assert contents(owner) == before
    owner.commit(manifest_of(1, source=input.text, shards=8), {})
    return raised.value


def contents(owner: CheckpointStore) -> dict[str, bytes]:
    return {name: owner.store.read(name).to_pybytes() for name in owner.store.names()}


def needs() -> ReadRequest:
    return ReadRequest("time", "type", WORKLOAD.uses, Schema({}))


def test_an_output_with_a_wrong_password(broker, topic, tmp_path, files, wrong_password):
    to = f"kafka://{broker.secured}/{topic}"
    output = OutputOptions(to, OutputFormat.JSON, 10, wrong_password)
    error = refused(owner_of(tmp_path, files), InputOptions(files, needs()), output)
    assert "uthentication fail" in error.message
    assert error.hint == "check the file of --kafka-options"


def test_an_output_topic_with_a_name_that_is_too_long(broker, tmp_path, files):
    """Results go to topics with longer names than the one that was given."""
    to = f"kafka://{broker.address}/{'x' * 249}"
    output = OutputOptions(to, OutputFormat.JSON, 10)
    error = refused(owner_of(tmp_path, files), InputOptions(files, needs()), output)
    assert "opic" in error.message


def test_an_output_with_later_results_of_the_job(broker, topic, tmp_path, files):
    """The checkpoint is an older copy. The sink of the run that goes on is not fenced."""
    to = f"kafka://{broker.address}/{topic}"
    owner = owner_of(tmp_path, files)
    sink = KafkaSink(parse_address(to), manifest_of(0).job)
    sink.recover(0)
    for epoch in (1, 2):
        sink.publish(epoch, [{"q": pa.table({"n": [epoch]})}], None)
    output = OutputOptions(to, OutputFormat.JSON, 10)
    error = refused(owner, InputOptions(files, needs()), output)
    assert "up to epoch 2, but the checkpoint ends with epoch 0" in error.message
    sink.publish(3, [{"q": pa.table({"n": [3]})}], None)
    sink.close()


def test_an_input_with_a_wrong_password(broker, topic, tmp_path, wrong_password):
    broker.create(topic)
    source = f"kafka://{broker.secured}/{topic}"
    input = InputOptions(source, needs(), follow=True, kafka_options=wrong_password)
    output = OutputOptions(str(tmp_path / "output"), OutputFormat.JSON, 10)
    error = refused(owner_of(tmp_path, source), input, output)
    assert "uthentication fail" in error.message


def test_an_input_topic_that_is_not_there(broker, topic, tmp_path):
    source = f"kafka://{broker.address}/{topic}"
    output = OutputOptions(str(tmp_path / "output"), OutputFormat.JSON, 10)
    error = refused(owner_of(tmp_path, source), InputOptions(source, needs(), follow=True), output)
    assert error.message == f"there is no topic `{topic}` at {broker.address}"


def test_an_input_with_a_wrong_schema(tmp_path):
    """Found before any broker is asked."""
    avro = tmp_path / "events.avsc"
    avro.write_text("[]")
    input = InputOptions("kafka://127.0.0.1:9/events", needs(), follow=True, avro=avro)
    with pytest.raises(HamletError, match="is not an Avro schema of a record"):
        resolve_input(input)


def test_checking_creates_no_topic_and_disturbs_nobody(broker, topic):
    sink = KafkaSink(parse_address(f"kafka://{broker.address}/{topic}"), "job")
    sink.check()
    admin: AdminClient = broker.admin()
    assert not [
        name for name in admin.list_topics(timeout=PATIENCE_S).topics if name.startswith(topic)
    ]
    sink.recover(-1)
    other = KafkaSink(parse_address(f"kafka://{broker.address}/{topic}"), "job")
    other.check()
    sink.publish(0, [{"q": pa.table({"n": [1]})}], None)
    sink.close()
