"""Disks that are full or cannot be written to: it is said, nothing is harmed, and the job goes on
when there is room again."""

import signal
import threading

import pytest

from cluster.faults import stream
from cluster.faults.disk import Disk, NoRights
from cluster.faults.job import RecordingScreen
from cluster.faults.stream import written
from runtime.errors import HamletError

LARGE = "64m"


@pytest.fixture
def disk():
    made = []

    def make(path, size):
        try:
            made.append(Disk(path, size))
        except NoRights as error:
            pytest.skip(f"tool: {error}")
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_full_disk_under_the_checkpoint(job, undisturbed, disk):
    small = disk(job.checkpoint, "1m")
    job.fill()
    with pytest.raises(HamletError, match="No space left on device") as raised:
        job.run(RecordingScreen())
    assert f"cannot write {job.checkpoint}/" in raised.value.render()
    small.change(f"size={LARGE}")
    job.run(RecordingScreen())
    assert written(job.output) == undisturbed


def test_full_disk_under_the_output(job, undisturbed, disk):
    small = disk(job.output, "300k")
    job.fill()
    with pytest.raises(HamletError, match="No space left on device") as raised:
        job.run(RecordingScreen())
    assert f"cannot write {job.output}/" in raised.value.render()
    small.change(f"size={LARGE}")
    job.run(RecordingScreen())
    assert written(job.output) == undisturbed


@pytest.mark.parametrize("which", ["checkpoint", "output"])
def test_read_only_from_some_moment_on(job, undisturbed, disk, which):
    path = getattr(job, which)
    mounted = disk(path, LARGE)
    job.fill()
    seen = RecordingScreen()
    later = threading.Thread(target=lambda: (seen.wait(8), mounted.change("ro")))
    later.start()
    with pytest.raises(HamletError, match=f"cannot .*{path}/.*Read-only file system"):
        job.run(seen)
    later.join()
    assert 8 <= len(seen.reports) < stream.FILES
    mounted.change("rw")
    job.run(RecordingScreen())
    assert written(job.output) == undisturbed


def test_no_folder_for_the_checkpoint(job):
    """Told before anything is started."""
    job.fill(0, 1)
    job.checkpoint.write_text("a file")
    seen = RecordingScreen()
    with pytest.raises(HamletError, match=f"cannot write to {job.checkpoint}"):
        job.run(seen)
    assert not job.output.exists()
    job.checkpoint.unlink()


def test_what_the_command_says(command, undisturbed, disk):
    small = disk(command.checkpoint, "1m")
    command.fill(0, stream.FILES)
    command.start()
    assert command.end() == 2, command.said
    last = command.said.strip().splitlines()[-1]
    assert last.startswith(f"failed: cannot write {command.checkpoint}/")
    assert f" No space left on device; kept: the checkpoint of epoch {command.epoch()} " in last
    assert last.endswith(f" in {command.checkpoint}; the same command resumes from it")
    assert "Traceback" not in command.said
    small.change(f"size={LARGE}")
    command.start()
    command.all_files()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert written(command.output) == undisturbed
