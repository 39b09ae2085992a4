"""A job's queries follow its file."""

from pathlib import Path

import pyarrow as pa
import pytest

from hamlet.job.workload_watcher import WorkloadWatcher
from runtime.errors import EnvironmentFailure, HamletError
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat

COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string()), ("x", pa.float64())])
A = "QUERY a RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 minute\n"
B = "QUERY b RETURN SUM(B.x) AS s PATTERN SEQ(A, B+) WITHIN 1 minute\n"
C = "QUERY c RETURN COUNT(*) AS n PATTERN C WITHIN 1 minute\n"
OTHER_B = "QUERY b RETURN COUNT(*) AS n PATTERN B WITHIN 2 minutes\n"


class Nobody:
    """No one else asks for a change."""

    def next(self, bound_workload):
        return None

    def committed(self, change, epoch):
        raise AssertionError("that was not theirs")

    def refused(self, change, reason):
        raise AssertionError("that was not theirs")


class Job:
    """Takes up what it is asked to, as the driver does."""

    def __init__(self, path: Path, text: str, running: str | None = None) -> None:
        self.path, self.said, self.warned = path, [], []
        path.write_text(text)
        input_format = InputFormat(columns=COLUMNS)
        self.bound_workload = BoundWorkload(parse(running or text), input_format, "float")
        self._watching = WorkloadWatcher(
            path, Nobody(), self.said.append, self.warned.append, every=0.0, retry_after=0.0
        )

    def look(self) -> list[str]:
        """The queries after a look at the file."""
        change = self._watching.next(self.bound_workload)
        if change is not None:
            self.bound_workload = self.bound_workload.with_changes(change.added, change.removed)
            self._watching.committed(change, 7)
        return [query.name for query in self.bound_workload.workload]

    def refuse(self, text: str, reason: HamletError) -> None:
        """The driver rehearses a change of the file, and cannot make it."""
        self.path.write_text(text)
        change = self._watching.next(self.bound_workload)
        assert change is not None
        self._watching.refused(change, reason)

    def put(self, text: str) -> list[str]:
        self.path.write_text(text)
        return self.look()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "queries.sase", A + B)


def test_the_same_text_changes_nothing(job: Job):
    assert job.look() == job.look() == ["a", "b"]
    assert job.said == job.warned == []


def test_queries_come_and_go(job: Job):
    assert job.put(A + B + C) == ["a", "b", "c"]
    assert job.said == [f"{job.path}: added c with epoch 7"]
    assert job.put(C + A) == ["a", "c"]
    assert job.said[1:] == [f"{job.path}: removed b with epoch 7"]
    assert job.put(B) == ["b"]
    assert job.said[2:] == [f"{job.path}: added b and removed a, c with epoch 7"]
    assert job.warned == []


def test_order_and_comments_are_no_change(job: Job):
    assert job.put(f"-- the second\n{B}\n\n{A}") == ["a", "b"]
    assert job.said == job.warned == []


def test_a_changed_query_goes_on_as_it_was(job: Job):
    before = job.bound_workload.workload["b"]
    assert job.put(A + OTHER_B + C) == ["a", "b", "c"]
    assert job.bound_workload.workload["b"] == before
    (told,) = job.warned
    assert told.startswith("`b` has changed in ")
    assert "new name" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (A + "QUERY d RETURN", "queries.sase:"),
        ("", "there is no query here"),
        (A + "QUERY d RETURN SUM(D.y) PATTERN D WITHIN 1 minute", "no attribute `y`"),
        (A + A, "queries.sase:"),
    ],
    ids=["broken", "empty", "does not fit", "twice"],
)
def test_an_error_changes_nothing_and_is_told_once(job: Job, text, said):
    assert job.put(text) == job.look() == ["a", "b"]
    (told,) = job.warned
    assert "the queries stay as they are" in told
    assert said in told
    assert "\n" not in told
    assert job.put(A + B + C) == ["a", "b", "c"]


def test_a_file_that_is_away(job: Job):
    job.look()
    job.path.unlink()
    assert job.look() == job.look() == ["a", "b"]
    (told,) = job.warned
    assert "cannot be read" in told
    assert job.put(A) == ["a"]


def test_a_link_to_another_file(tmp_path: Path):
    """As Kubernetes puts a ConfigMap in place: the folder is swapped, the file is a link."""
    for name, text in (("..1", A), ("..2", A + B)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "q.sase").write_text(text)
    (tmp_path / "..data").symlink_to("..1")
    path = tmp_path / "q.sase"
    path.symlink_to("..data/q.sase")
    job = Job(path, A)
    assert job.look() == ["a"]
    (tmp_path / "..new").symlink_to("..2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert job.look() == ["a", "b"]


def test_after_a_restart_the_file_counts(tmp_path: Path):
    """What came and went while the job was away."""
    job = Job(tmp_path / "queries.sase", B + C, running=A + B)
    assert job.look() == ["b", "c"]


def test_a_change_that_cannot_be_made(tmp_path: Path):
    """It is reported, and the next version of the file is a change again."""
    job = Job(tmp_path / "queries.sase", A)
    job.path.write_text(A + B)
    change = job._watching.next(job.bound_workload)
    job._watching.refused(change, HamletError("its rehearsal failed"))
    (told,) = job.warned
    assert told.endswith("the queries stay as they are: its rehearsal failed")
    assert job.look() == ["a"]
    assert job.put(A + C) == ["a", "c"]
    assert job.said == [f"{job.path}: added c with epoch 7"]


def test_a_change_that_the_machine_failed_is_made_later(job: Job):
    job.refuse(A + B + C, EnvironmentFailure("its rehearsal failed: the actor died"))
    assert job.warned == [
        f"{job.path} is not applied yet: its rehearsal failed: the actor died; the job tries again "
        "in 0 s"
    ]
    assert job.look() == ["a", "b", "c"]


def test_a_change_that_is_wrong_is_not_made_later(job: Job):
    job.refuse(A + B + C, HamletError("its rehearsal failed: no room"))
    assert job.look() == ["a", "b"]
    assert "the queries stay as they are: its rehearsal failed: no room" in job.warned[0]
