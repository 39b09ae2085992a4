"""A change of queries is answered when its epoch is committed, and not before."""

from pathlib import Path
from typing import Any

import pytest

from hamlet.job.active_workload import ActiveWorkload
from hamlet.job.job_context import JobContext, StartPoint
from hamlet.job.metrics_recorder import JobMetrics
from hamlet.job.workload_watcher import WorkloadWatcher
from pipeline.records import COLUMNS
from runtime.errors import EnvironmentFailure, HamletError
from runtime.language.parser import parse
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.rehearsal import Rehearsal
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings

FIRST = "QUERY q0 RETURN COUNT(*) PATTERN A WITHIN 1 minute\n"
SECOND = "QUERY second RETURN COUNT(*) AS n PATTERN B WITHIN 1 minute\n"
THIRD = "QUERY third RETURN COUNT(*) AS n PATTERN C WITHIN 1 minute\n"


class Ended:
    """A rehearsal that the machine let pass, or not."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def is_done(self) -> bool:
        return True

    def result(self) -> None:
        if self._error is not None:
            raise self._error


class Pool:
    """In the place of Ray."""

    size = 1

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.routings = 0

    def rehearse(self, rehearsal: Rehearsal) -> Ended:
        return Ended(self.error)

    def set_routing(self, routing: Any) -> None:
        self.routings += 1

    def guidance(self) -> None:
        return None


class NoOthers:
    def next(self, bound_workload: BoundWorkload) -> None:
        return None


class Job:
    """A job whose queries follow a file, without the processes that compute them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "queries.sase"
        self.said: list[str] = []
        self.warned: list[str] = []
        self.pool = Pool()
        running = BoundWorkload(parse(FIRST), InputFormat(columns=COLUMNS), "float")
        watcher = WorkloadWatcher(
            self.path,
            NoOthers(),  # type: ignore[arg-type]
            self.said.append,
            self.warned.append,
            every=0.0,
            retry_after=0.0,
        )
        none: Any = None
        context = JobContext(
            source=none,
            sink=none,
            pool=self.pool,  # type: ignore[arg-type]
            reader=none,
            checkpoints=CheckpointStore(BlobStore(str(folder / "checkpoint"))),
            recorder=JobMetrics("test", running, []),
            watcher=none,
            settings=Settings(),
            shards=4,
            lateness=0,
            given={},
        )
        self.workload = ActiveWorkload(context, StartPoint(running), watcher)

    def polled(self, times: int = 3, epoch: int = 5) -> set[str]:
        """The queries after so many rounds of the driver."""
        for _ in range(times):
            self.workload.poll_changes(None, epoch)
        return {query.name for query in self.workload.bound_workload.workload}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = Job(tmp_path)
    job.path.write_text(FIRST + SECOND)
    return job


def test_no_answer_before_the_commit(job: Job):
    assert job.polled(epoch=5) == {"q0", "second"}
    assert job.workload.take_update().change is not None
    job.workload.committed(4)
    assert job.said == []
    job.workload.committed(5)
    assert job.said == [f"{job.path}: added second with epoch 5"]
    job.workload.committed(6)
    assert len(job.said) == 1


def test_the_next_change_waits_for_the_commit(job: Job):
    job.polled(epoch=5)
    job.workload.take_update()
    job.path.write_text(FIRST + SECOND + THIRD)
    assert job.polled(epoch=6) == {"q0", "second"}
    job.workload.committed(5)
    assert job.polled(epoch=6) == {"q0", "second", "third"}
    job.workload.committed(6)
    assert job.said[1] == f"{job.path}: added third with epoch 6"


def test_a_lost_rehearsal_keeps_no_change_from_being_made(job: Job):
    job.pool.error = EnvironmentFailure("its rehearsal has not ended after 600 s")
    assert job.polled(2) == {"q0"}
    assert job.said == []
    assert "is not applied yet: its rehearsal has not ended" in job.warned[0]
    job.pool.error = None
    assert job.polled() == {"q0", "second"}


def test_a_failed_rehearsal_changes_nothing(job: Job):
    job.pool.error = HamletError("no room")
    assert job.polled() == {"q0"}
    assert job.workload.take_update().change is None
    assert job.pool.routings == 0
    assert "the queries stay as they are: no room" in job.warned[0]
