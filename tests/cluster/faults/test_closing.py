"""A job that closes ends, whatever hangs meanwhile. The watchdog has stopped by then."""

import _thread
import signal
import threading

import pytest

from cluster import proc
from cluster.faults import processes, stream
from cluster.faults.command import Command
from cluster.faults.job import Jobs, RecordingScreen
from hamlet.cli.deadline import END_SECONDS, RAY_GRACE
from hamlet.job import driver
from runtime.pipeline.checkpoint import CheckpointStore
from tools.patience import PATIENCE_S


def test_spark_hangs_while_the_job_closes(command: Command, undisturbed, monkeypatch):
    """Nothing is being read, so the job finds out only when it stops Spark. It has more time for
    its epochs than for closing."""
    monkeypatch.setenv(RAY_GRACE, "900")
    command.fill(0, stream.FILES)
    command.start()
    command.all_files()
    below = proc.tree(command.pid)
    (lost,) = processes.of("spark_driver", command.pid)
    processes.stop(lost)
    assert command.signal(signal.SIGTERM) == 143, command.said
    assert f"the job did not close within {END_SECONDS:g} s; it was ended by force" in command.said
    assert f"was committed; the same command resumes from {command.checkpoint}" in command.said
    processes.wait_for_end(below)
    command.start()
    command.wait_for(lambda: "live page" in command.said)
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed


def test_a_commit_never_ends(job: Jobs, monkeypatch):
    """The job is interrupted a second time meanwhile, and does not wait for it."""
    released = threading.Event()

    def commit(*_: object) -> None:
        _thread.interrupt_main()
        released.wait(PATIENCE_S)
        raise InterruptedError("it was released")

    monkeypatch.setattr(CheckpointStore, "commit", commit)
    monkeypatch.setattr(driver, "LAST_COMMIT_SECONDS", 0.1)
    job.fill(0, 10)
    try:
        with pytest.raises(KeyboardInterrupt):
            job.run(RecordingScreen())
    finally:
        released.set()
