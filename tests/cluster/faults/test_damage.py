"""Checkpoints that are cut in half: the one before is used, and that is said."""

import pytest

from cluster.faults.job import Seen
from cluster.faults.stream import written
from runtime.errors import HamletError

STOPPED_AFTER = 12


@pytest.fixture
def stopped(job):
    """A job that has been stopped in the middle."""
    job.fill()
    seen = Seen()
    job.run(seen, stopping=lambda: len(seen.reports) >= STOPPED_AFTER)
    assert len(seen.reports) < STOPPED_AFTER + 5
    return job


def newest(job, folder):
    return max((job.checkpoint / folder).iterdir())


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def goes_back(job, path, undisturbed, what):
    seen = Seen()
    job.run(seen)
    assert seen.warnings == [
        f"{path.relative_to(job.checkpoint)} is {what} in {job.checkpoint}: using the epoch before"
    ]
    assert written(job.output) == undisturbed


@pytest.mark.parametrize("folder", ["epochs", "state"])
def test_cut_in_half(stopped, undisturbed, folder):
    path = newest(stopped, folder)
    cut(path)
    goes_back(stopped, path, undisturbed, "damaged")


def test_missing(stopped, undisturbed):
    path = newest(stopped, "state")
    path.unlink()
    goes_back(stopped, path, undisturbed, "missing")


def test_cut_just_after_a_restart(stopped, undisturbed):
    """A run that has committed nothing leaves the checkpoint before the last one alone."""
    with pytest.raises(ZeroDivisionError):
        stopped.run(Seen(), stopping=lambda: 1 / 0)
    path = newest(stopped, "epochs")
    cut(path)
    goes_back(stopped, path, undisturbed, "damaged")


def test_nothing_is_whole(stopped):
    before = written(stopped.output)
    for path in (stopped.checkpoint / "epochs").iterdir():
        cut(path)
    with pytest.raises(HamletError, match=f"every checkpoint in {stopped.checkpoint} is damaged"):
        stopped.run(Seen())
    assert written(stopped.output) == before
