"""What is slow slows the source down: little is read ahead, memory stays bounded, the lag shows."""

import os
import signal
import threading
import time
from itertools import accumulate

import pytest
import ray

from cluster.faults import processes
from cluster.faults.job import Jobs, RecordingScreen
from cluster.faults.stream import written
from hamlet.job import watchdog
from hamlet.job.driver import MOST_PENDING
from spark_ingest.sinks.sink import EpochSink

# One is read while so many compute.
MOST_AHEAD = MOST_PENDING + 1
# Files come faster than they are taken.
FIRST, EVERY_S, SLOW_S = 3, 0.2, 1.0
# Long enough for all files to come meanwhile.
STOPPED_AFTER, STOPPED_S = 5, 15.0
# Events of an epoch take six megabytes, and those of a third of all epochs twice this room.
WIDTH = 4_096
ROOM_BYTES = 40 << 20


class Slow(EpochSink):
    """Takes its time."""

    def __init__(self, sink: EpochSink) -> None:
        self._sink = sink

    @property
    def address(self):
        return self._sink.address

    def folders(self, queries):
        return self._sink.folders(queries)

    def is_due(self, pending):
        return self._sink.is_due(pending)

    def publish(self, epoch, results, replay):
        time.sleep(SLOW_S)
        self._sink.publish(epoch, results, replay)

    def recover(self, committed):
        return self._sink.recover(committed)

    def close(self):
        self._sink.close()


class Measured(RecordingScreen):
    """Looks at each epoch how much memory the driver, the actors and the object store take."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: list[int] = []

    def committed(self, report):
        actors = [pid for kind in processes.TITLES for pid in processes.of(kind)]
        self.memory.append(processes.resident([os.getpid(), *actors]) + stored())
        super().committed(report)


def stored() -> int:
    """Bytes in the object store."""
    from ray._private.internal_api import node_stats

    node = ray.nodes()[0]
    found = node_stats(node["NodeManagerAddress"], node["NodeManagerPort"], False)
    return found.store_stats.object_store_bytes_used


@pytest.fixture
def job(cluster, spark, tmp_path):
    return Jobs(cluster, spark, tmp_path, width=WIDTH)


@pytest.fixture(scope="module")
def at_ease(cluster, spark, tmp_path_factory):
    """What is written if nothing is slow."""
    job = Jobs(cluster, spark, tmp_path_factory.mktemp("at_ease"), width=WIDTH)
    job.fill()
    job.run(RecordingScreen())
    return written(job.output)


@pytest.fixture
def seen(job):
    """Of a job whose files come one after the other, once it has taken the first ones."""
    seen = Measured()
    job.fill(0, FIRST)

    def feed():
        seen.wait(FIRST)
        for number in range(FIRST, job.files):
            job.fill(number, number + 1)
            time.sleep(EVERY_S)

    feeding = threading.Thread(target=feed, name="feed", daemon=True)
    feeding.start()
    yield seen
    feeding.join()


def ahead(job: Jobs, seen: RecordingScreen) -> list[int]:
    """How many epochs had been planned, at each commit, beyond the one that was committed."""
    sizes = [os.stat(job.input / f"{number:05d}.parquet").st_size for number in range(job.files)]
    # A backlog is what no epoch has been planned for; of the files that had come by then.
    planned = {total: count for count, total in enumerate(accumulate(sizes, initial=0))}
    found = []
    for report in seen.reports[len(seen.reports) // 2 :]:  # when all files are there
        if sum(sizes) - report.backlog in planned:
            found.append(planned[sum(sizes) - report.backlog] - (report.epoch + 1))
    return found


def assert_held_back(job: Jobs, seen: Measured) -> None:
    lag = [report.backlog for report in seen.reports]
    size = max(path.stat().st_size for path in job.input.iterdir())
    peak = lag.index(max(lag))
    assert max(lag) > 5 * size
    assert lag[0] < max(lag)
    assert lag[peak:] == sorted(lag[peak:], reverse=True)
    assert lag[-1] == 0
    assert len(ahead(job, seen)) > 10
    assert max(ahead(job, seen)) <= MOST_AHEAD
    # Ray frees what nobody needs once a second, so memory goes up and down; its peaks stay.
    third = len(seen.memory) // 3
    before, after = seen.memory[third : 2 * third], seen.memory[2 * third :]
    assert max(after) < max(before) + ROOM_BYTES, seen.memory


def test_slow_sink(job, seen, at_ease):
    job.run(seen, wrap=Slow)
    assert not seen.troubles
    assert_held_back(job, seen)
    assert written(job.output) == at_ease


def test_overloaded_aggregator(job, seen, at_ease, monkeypatch):
    """One stands still for a while, and only what it had computed before is committed meanwhile.
    The watchdog would kill it: it does not know when it will go on."""
    monkeypatch.setattr(watchdog, "STOPPED_ROUNDS", 1_000_000)
    committed: list[int] = []

    def stop():
        seen.wait(STOPPED_AFTER)
        pid = processes.of("aggregator")[0]
        os.kill(pid, signal.SIGSTOP)
        before = len(seen.reports)
        time.sleep(STOPPED_S)
        committed.append(len(seen.reports) - before)
        os.kill(pid, signal.SIGCONT)

    stopping = threading.Thread(target=stop, name="stop")
    stopping.start()
    job.run(seen)
    stopping.join()
    assert not seen.troubles
    assert committed[0] <= MOST_AHEAD
    assert_held_back(job, seen)
    assert written(job.output) == at_ease
