"""Files of a checkpoint are damaged while the job is down, and the input that was read is gone."""

import random

import pytest

from cluster.faults.job import RecordingScreen
from cluster.faults.stream import written
from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore

STOPPED_AFTER = 12


@pytest.fixture
def stopped(job):
    """A job that has been stopped in the middle, without the files that it has read."""
    job.fill()
    seen = RecordingScreen()
    job.run(seen, stopping=lambda: len(seen.reports) >= STOPPED_AFTER)
    assert len(seen.reports) < STOPPED_AFTER + 5
    last = CheckpointStore(BlobStore(str(job.checkpoint))).last()
    for name in last.position["files"]:
        (job.input / name).unlink()
    return job


def newest(job, folder):
    return max((job.checkpoint / folder).iterdir())


def flip(path):
    data = bytearray(path.read_bytes())
    data[random.Random(3).randrange(len(data))] ^= 1
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = [flip, cut, lambda path: path.unlink()]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("folder", ["a/epochs", "b/epochs", "a/state", "b/state"])
def test_one_copy(stopped, undisturbed, folder, damage):
    path = newest(stopped, folder)
    damage(path)
    seen = RecordingScreen()
    stopped.run(seen)
    assert seen.warnings == [
        f"{path.relative_to(stopped.checkpoint)} in {stopped.checkpoint} was damaged: restored "
        "from its copy"
    ]
    assert written(stopped.output) == undisturbed


def test_both_copies(stopped):
    """The input is gone, so nothing is computed again and nothing is removed."""
    before = written(stopped.output)
    for copy in "ab":
        cut(newest(stopped, f"{copy}/epochs"))
    with pytest.raises(HamletError, match=r"the newest checkpoint in .* cannot be read"):
        stopped.run(RecordingScreen())
    assert written(stopped.output) == before
