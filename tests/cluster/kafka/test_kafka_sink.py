"""A reader of what is committed sees each row once, whatever happens to the writer."""

import json
import signal
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from pipeline.records import manifest_of
from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.checkpoint import CheckpointStore, OwnershipLost
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.kafka.address import parse_address
from spark_ingest.kafka.options import KafkaOptions
from spark_ingest.kafka.topic_metadata import TopicMetadata
from spark_ingest.sinks.kafka import KafkaSink
from spark_ingest.sinks.sink import ReplayPoint
from tools.patience import PATIENCE_S

# Runs in a process of its own and dies between what is sent and the commit, or just after it.
DYING = """
import os, signal, sys
import pyarrow as pa
from confluent_kafka import Producer
import spark_ingest.kafka.transactions as transactions
from spark_ingest.kafka.address import parse_address
from spark_ingest.sinks.kafka import KafkaSink

address, job, moment = sys.argv[1:]

class Dying(Producer):
    def commit_transaction(self, timeout):
        self.flush()
        if moment == "after":
            super().commit_transaction(timeout)
        os.kill(os.getpid(), signal.SIGKILL)

sink = KafkaSink(parse_address(address), job)
sink.recover(-1)
sink.publish(0, [{"q": pa.table({"n": [1, 2]})}], None)
transactions.Producer = Dying
sink = KafkaSink(parse_address(address), job)
sink.recover(0)
sink.publish(1, [{"q": pa.table({"n": [3, 4]})}], None)
"""


def numbers(*values):
    return pa.table({"n": list(values)})


def committed(broker, topic):
    """All messages that such a reader sees: (key, value)."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.address,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    partitions = consumer.list_topics(topic).topics[topic].partitions
    # A commit is certain before it is seen.
    TopicMetadata(parse_address(f"kafka://{broker.address}/{topic}"), KafkaOptions()).settle(
        partitions
    )
    consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
    found, ended = [], 0
    while ended < len(partitions):
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        if message.error() is None:
            key = message.key()
            found.append((key and key.decode(), json.loads(message.value())))
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF
            ended += 1
    consumer.close()
    return found


def rows(broker, topic):
    return [value["row"]["n"] for _, value in committed(broker, topic)]


@pytest.fixture
def sink(broker, topic):
    made = []

    def make(job="job", **given):
        address = parse_address(f"kafka://{given.pop('servers', broker.address)}/{topic}")
        made.append(KafkaSink(address, job, **given))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_rows_and_what_goes_beside_them(broker, topic, sink):
    out = sink()
    out.recover(-1)
    dead = pa.table({"source": ["s"], "reason": ["bad"]})
    tables = {"one": numbers(1), "two": numbers(2, None), DEAD_LETTER: dead, LATE: numbers(9)}
    assert committed(broker, topic) == []
    out.publish(0, [tables], None)
    assert sorted(committed(broker, topic), key=str) == [
        ("one", {"query": "one", "row": {"n": 1}}),
        ("two", {"query": "two", "row": {"n": 2}}),
        ("two", {"query": "two", "row": {"n": None}}),
    ]
    assert committed(broker, f"{topic}-dead-letter") == [(None, {"source": "s", "reason": "bad"})]
    assert committed(broker, f"{topic}-late") == [(None, {"n": 9})]
    assert committed(broker, f"{topic}-epochs") == [("job", {"epoch": 0})]


def test_publishing_again_does_nothing(broker, topic, sink):
    out = sink()
    out.recover(-1)
    for epoch in range(3):
        for _ in range(2):
            out.publish(epoch, [{"q": numbers(10 + epoch)}], None)
    assert sorted(rows(broker, topic)) == [10, 11, 12]
    again = sink()
    again.recover(2)
    again.publish(2, [{"q": numbers(12)}], None)
    assert sorted(rows(broker, topic)) == [10, 11, 12]


def test_an_epoch_that_was_committed_and_not_sent_is_sent(broker, topic, sink):
    out = sink()
    out.recover(-1)
    out.publish(0, [{"q": numbers(0)}], None)
    out.close()
    again = sink()
    again.recover(1)
    again.publish(1, [{"q": numbers(1)}], None)
    assert sorted(rows(broker, topic)) == [0, 1]
    again.publish(2, [{"q": numbers(22)}], None)
    assert sorted(rows(broker, topic)) == [0, 1, 22]


def test_epochs_without_rows(broker, topic, sink):
    out = sink()
    out.recover(-1)
    for epoch in range(3):
        out.publish(epoch, [{"q": numbers()}], None)
    out.close()
    sink().recover(2)
    assert committed(broker, topic) == []


def test_a_new_life_of_a_job_starts_from_its_own_epochs(broker, topic, sink):
    said = []
    out = sink()
    out.recover(-1)
    for epoch in range(2):
        out.publish(epoch, [{"q": numbers(epoch)}], None)
    fresh = sink(say=said.append)
    fresh.recover(-1)
    assert "results of an earlier run" in said[0]
    fresh.close()  # dies before it publishes
    heir = sink()
    heir.recover(0)
    heir.publish(0, [{"q": numbers(100)}], None)
    assert sorted(rows(broker, topic)) == [0, 1, 100]


def test_an_epoch_whose_checkpoint_was_lost_is_done_again_but_not_sent(broker, topic, sink):
    said = []
    turn = ReplayPoint({"files": ["a"]}, 7, {"c": 9})
    out = sink()
    out.recover(-1)
    for epoch in range(2):
        out.publish(epoch, [{"q": numbers(epoch)}], turn)
    again = sink(say=said.append)
    assert again.recover(0) == turn
    assert "has the results of epoch 1, but the checkpoint does not" in said[0]
    for epoch in (1, 2):
        again.publish(epoch, [{"q": numbers(epoch)}], turn)
    assert sorted(rows(broker, topic)) == [0, 1, 2]
    assert sink().recover(2) is None


def test_a_position_that_no_message_can_hold_is_left_out(broker, topic, sink):
    turn = ReplayPoint({"files": [f"{n:040d}" for n in range(50_000)]}, 7, {})
    out = sink()
    out.recover(-1)
    for epoch in range(2):
        out.publish(epoch, [{"q": numbers(epoch)}], turn)
    assert rows(broker, topic) == [0, 1]
    with pytest.raises(HamletError, match="the checkpoint ends with epoch 0"):
        sink().recover(0)


def test_an_older_checkpoint_is_refused(broker, topic, sink):
    out = sink()
    out.recover(-1)
    for epoch in range(2):
        out.publish(epoch, [{"q": numbers(epoch)}], None)
    with pytest.raises(HamletError, match="up to epoch 1, but the checkpoint ends with epoch 0"):
        sink().recover(0)


@pytest.mark.parametrize(
    "mark", [b"no json", b'{"epoch": 1, "turn": {"position": 7}}'], ids=["text", "point"]
)
def test_a_marker_that_somebody_else_wrote_is_refused(broker, topic, sink, mark):
    sink().recover(-1)
    producer = Producer({"bootstrap.servers": broker.address})
    producer.produce(f"{topic}-epochs", key=b"job", value=mark)
    assert producer.flush(PATIENCE_S) == 0
    with pytest.raises(CorruptCheckpoint, match="is not one of Hamlet"):
        sink().recover(0)


def test_jobs_do_not_mix(broker, topic, sink):
    for n, job in enumerate(("a", "b")):
        out = sink(job)
        out.recover(-1)
        out.publish(n, [{"q": numbers(n)}], None)
    sink("a").recover(0)
    sink("b").recover(1)
    assert sorted(rows(broker, topic)) == [0, 1]


# ---- two runs on one checkpoint ------------------------------------------------------------


@pytest.fixture
def runs(tmp_path, sink):
    """`older, newer = runs()`: checkpoints and sinks of two runs. The newer one has taken over."""
    opened = []

    def claimed():
        store = BlobStore(str(tmp_path / "checkpoint"), durable=False)
        checkpoints = CheckpointStore(store)
        checkpoints.claim(pytest.fail)
        opened.append(checkpoints)
        return checkpoints

    def start(**given):
        older = claimed()
        older.commit(manifest_of(0), {})
        return [(each, sink(check_owner=each.check_owner, **given)) for each in (older, claimed())]

    yield start
    for each in opened:
        each.close()


def looking_too_early(checkpoints):
    """Looks for other runs, and is then paused until the newer one has taken over."""
    looks = iter([lambda: None, checkpoints.check_owner])

    def look():
        next(looks)()

    return look


def test_a_run_that_was_taken_over_from_leaves_the_sink_alone(broker, topic, runs):
    """It was paused since it looked for other runs the last time."""
    (_, late), (_, out) = runs()
    out.recover(0)
    for epoch in (0, 1, 2):
        out.publish(epoch, [{"q": numbers(epoch)}], None)
    with pytest.raises(OwnershipLost, match="another run has taken over the checkpoints"):
        late.recover(0)
    out.publish(3, [{"q": numbers(3)}], None)
    assert sorted(rows(broker, topic)) == [0, 1, 2, 3]


def test_a_run_that_learns_late_that_it_was_taken_over_from(sink, runs):
    """The newer run has taken over since the older one looked: the checkpoint is no older copy."""
    (checkpoints, _), (_, out) = runs()
    out.recover(0)
    for epoch in (0, 1, 2):
        out.publish(epoch, [{"q": numbers(epoch)}], None)
    late = sink(check_owner=looking_too_early(checkpoints))
    with pytest.raises(OwnershipLost, match="another run has taken over the checkpoints"):
        late.recover(0)


def test_the_owner_takes_the_sink_back(broker, topic, sink, runs):
    said = []
    _, (_, out) = runs(say=said.append)
    out.recover(0)
    for epoch in range(3):
        out.publish(epoch, [{"q": numbers(epoch)}], None)
        if epoch != 1:  # once right after it
            sink().recover(epoch)
    out.publish(3, [{"q": numbers(3)}], None)
    assert sorted(rows(broker, topic)) == [0, 1, 2, 3]
    assert len([each for each in said if "for a moment" in each]) == 2


def test_a_run_that_is_fenced_and_no_owner_ends(broker, topic, sink, runs):
    (checkpoints, _), (_, out) = runs()
    late = sink(check_owner=looking_too_early(checkpoints))
    late.recover(0)
    out.recover(0)
    with pytest.raises(OwnershipLost, match="another run has taken over the checkpoints"):
        late.publish(1, [{"q": numbers(7)}], None)
    out.publish(1, [{"q": numbers(1)}], None)
    assert rows(broker, topic) == [1]


def test_a_copy_of_the_checkpoint_is_not_taken_for_an_older_run(broker, topic, sink, runs):
    """Both own theirs: who published last goes on."""
    _, (_, out) = runs()
    out.recover(0)
    out.publish(0, [{"q": numbers(0)}], None)
    copy = sink()
    copy.recover(0)
    copy.publish(1, [{"q": numbers(1)}], ReplayPoint({"files": ["another"]}, 7, {}))
    with pytest.raises(OwnershipLost, match="another process runs the job `job`"):
        out.publish(1, [{"q": numbers(100)}], ReplayPoint({"files": ["mine"]}, 7, {}))
    assert sorted(rows(broker, topic)) == [0, 1]


def test_a_commit_that_was_completed_by_the_one_that_fenced_it(broker, topic, sink, runs):
    """The epoch is there, so it is not sent again."""
    turn = ReplayPoint({"files": ["a"]}, 7, {})
    _, (_, out) = runs()
    out.recover(0)
    copy = sink()
    copy.recover(0)
    copy.publish(1, [{"q": numbers(1)}], turn)
    out.publish(1, [{"q": numbers(1)}], turn)
    out.publish(2, [{"q": numbers(2)}], turn)
    assert sorted(rows(broker, topic)) == [1, 2]


def test_an_older_copy_is_found_without_disturbing_the_job(broker, topic, sink):
    out = sink()
    out.recover(-1)
    for epoch in range(2):
        out.publish(epoch, [{"q": numbers(epoch)}], None)
    with pytest.raises(HamletError, match="up to epoch 1, but the checkpoint ends with epoch 0"):
        sink().check(lambda: 0)
    sink().check(lambda: 1)
    sink("other").check(lambda: 0)
    out.publish(2, [{"q": numbers(2)}], None)
    assert sorted(rows(broker, topic)) == [0, 1, 2]


def test_a_row_that_is_too_large_is_an_error_and_nothing_is_seen(broker, topic, sink):
    out = sink()
    out.recover(-1)
    with pytest.raises(HamletError, match="too large"):
        out.publish(0, [{"q": pa.table({"n": ["x", "y" * (2 << 20)]})}], None)
    assert committed(broker, topic) == []


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_while_publishing(broker, topic, sink, root, moment):
    address = f"kafka://{broker.address}/{topic}"
    arguments = [sys.executable, "-c", DYING, address, "job", moment]
    died = subprocess.run(arguments, cwd=root, capture_output=True, check=False, timeout=PATIENCE_S)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    if moment == "after":
        assert sorted(rows(broker, topic)) == [1, 2, 3, 4]
    for _ in range(2):
        heir = sink()
        heir.recover(1)
        heir.publish(1, [{"q": numbers(3, 4)}], None)
        assert sorted(rows(broker, topic)) == [1, 2, 3, 4]
    heir.publish(2, [{"q": numbers(5)}], None)
    assert sorted(rows(broker, topic)) == [1, 2, 3, 4, 5]


def test_a_marker_behind_the_open_transaction_of_another_is_waited_for(broker, topic, sink):
    out = sink("a")
    out.recover(-1)
    other = Producer({"bootstrap.servers": broker.address, "transactional.id": f"{topic}-other"})
    other.init_transactions(300)
    other.begin_transaction()
    other.produce(f"{topic}-epochs", "{}", "other")
    other.flush()
    out.publish(0, [{"q": numbers(0)}], None)
    out.close()
    ending = threading.Timer(3, other.commit_transaction)
    ending.start()
    said = []
    sink("a", say=said.append).recover(0)
    ending.join()
    assert said == [f"waiting for an open transaction in topic {topic}-epochs"]
    assert rows(broker, topic) == [0]


def test_many_rows(broker, topic, sink):
    out = sink()
    out.recover(-1)
    out.publish(0, [{"q": numbers(*range(150_000))}], None)  # more than a producer's queue holds
    assert sorted(rows(broker, topic)) == list(range(150_000))
