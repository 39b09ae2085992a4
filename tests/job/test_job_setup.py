"""A run that is refused leaves the checkpoint and its owner alone."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.faults.disk import Disk, NoRights
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
from runtime.metrics.http_server import MetricsServer
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.settings import Settings
from runtime.types.schema import Schema


class Quiet:
    def __getattr__(self, name: str) -> object:
        return lambda *_: None


def run(
    folder: Path,
    input: Path,
    output: OutputOptions | None = None,
    address: str | None = None,
    metrics_port: int | None = None,
    **settings: str,
) -> None:
    needs = ReadRequest("time", "type", WORKLOAD.uses, Schema({}))
    to = output or OutputOptions(str(folder.parent / "output"), OutputFormat.PARQUET, 10)
    job_run.run(
        WORKLOAD,
        JobOptions(
            checkpoint=str(folder),
            settings=Settings(**settings),  # type: ignore[arg-type]
            address=address,
            metrics_port=metrics_port,
        ),
        resolve_input(InputOptions(str(input), needs)),
        lambda *_: pytest.fail("nothing is started"),
        Quiet(),  # type: ignore[arg-type]
        lambda: False,
        lambda outcome: None,
        check_output=Sinks(to, False, Notices()).check,
    )


@pytest.fixture
def input(tmp_path: Path) -> Path:
    folder = tmp_path / "events"
    folder.mkdir()
    pq.write_table(pa.table({"time": [1], "type": ["A"]}, COLUMNS), folder / "1.parquet")
    return folder


@pytest.fixture
def owner(tmp_path: Path, input: Path) -> CheckpointStore:
    """A run that has committed an epoch and goes on."""
    checkpoints = CheckpointStore(BlobStore(str(tmp_path / "checkpoint")))
    checkpoints.claim(pytest.fail)
    checkpoints.commit(_manifest(0, input), {})
    return checkpoints


def _manifest(epoch: int, input: Path):  # type: ignore[no-untyped-def]
    return manifest_of(epoch, source=str(input), shards=8)


def contents(owner: CheckpointStore) -> dict[str, bytes]:
    return {name: owner.store.read(name).to_pybytes() for name in owner.store.names()}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"numeric": "exact"}, "made with --numeric"), ({"ties": "arrival"}, "made with --ties")],
)
def test_a_wrong_option(tmp_path: Path, owner, input: Path, wrong, says: str) -> None:
    before = contents(owner)
    with pytest.raises(HamletError, match=says):
        run(tmp_path / "checkpoint", input, **wrong)
    assert contents(owner) == before
    owner.commit(_manifest(1, input), {})


def test_a_port_that_is_in_use(tmp_path: Path, owner, input: Path) -> None:
    """On a given cluster as well: the page is served on the machine of the command."""
    before = contents(owner)
    with closing(MetricsServer()) as server:
        port = int(server.url.rpartition(":")[2])
        for address in (None, "127.0.0.1:9"):
            with pytest.raises(HamletError, match=f"cannot serve metrics on 127.0.0.1:{port}"):
                run(tmp_path / "checkpoint", input, address=address, metrics_port=port)
    assert contents(owner) == before
    owner.commit(_manifest(1, input), {})


def test_another_input(tmp_path: Path, owner, input: Path) -> None:
    before = contents(owner)
    other = input.rename(tmp_path / "other")
    with pytest.raises(HamletError, match="made with --input"):
        run(tmp_path / "checkpoint", other)
    assert contents(owner) == before


def test_an_output_of_another_job(tmp_path: Path, owner, input: Path) -> None:
    before = contents(owner)
    part = tmp_path / "output" / "q.parquet" / "part-000000009.parquet"
    part.parent.mkdir(parents=True)
    part.touch()
    with pytest.raises(HamletError, match="has results up to epoch 9"):
        run(tmp_path / "checkpoint", input)
    assert contents(owner) == before
    assert part.exists()


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that is there, and cannot be written to."""
    folder = tmp_path / "read-only"
    if os.geteuid():
        folder.mkdir(mode=0o500)
        yield folder
        return
    try:
        disk = Disk(folder, "1m")
    except NoRights as error:
        pytest.skip(f"tool: {error}")
    disk.change("ro")
    yield folder
    disk.close()


def test_an_output_that_cannot_be_written(tmp_path: Path, owner, input: Path, read_only) -> None:
    before = contents(owner)
    output = OutputOptions(str(read_only), OutputFormat.PARQUET, 10)
    with pytest.raises(HamletError, match=rf"cannot write {read_only}: "):
        run(tmp_path / "checkpoint", input, output)
    assert contents(owner) == before
    owner.commit(_manifest(1, input), {})


@pytest.mark.parametrize(
    ("to", "options", "says"),
    [
        ("kafka://127.0.0.1:9/", "", "cannot be the name of a Kafka topic"),
        ("kafka://127.0.0.1:9/out", "security.protocol=TLS", "security.protocol is one of"),
    ],
)
def test_an_output_to_kafka(tmp_path: Path, owner, input: Path, to, options, says) -> None:
    before = contents(owner)
    properties = tmp_path / "kafka.properties"
    properties.write_text(options)
    output = OutputOptions(to, OutputFormat.JSON, 10, properties)
    with pytest.raises(HamletError, match=says):
        run(tmp_path / "checkpoint", input, output)
    assert contents(owner) == before
