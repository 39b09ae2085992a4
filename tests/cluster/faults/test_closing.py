"""A job that closes ends, whatever hangs meanwhile. The watchdog has stopped by then."""

import signal
import threading

import pytest

from cluster import proc
from cluster.faults import processes, stream
from cluster.faults.command import Command
from cluster.faults.job import LIMIT_S, Jobs, Seen
from hamlet.job import driver
from runtime.pipeline.checkpoint import CheckpointStore


def test_spark_hangs_while_the_job_closes(command: Command, undisturbed):
    """Nothing is being read, so the job finds out only when it stops Spark."""
    command.fill(0, stream.FILES)
    command.start()
    command.all_files()
    below = proc.tree(command.pid)
    (lost,) = processes.of("spark_driver", command.pid)
    processes.stop(lost)
    assert command.signal(signal.SIGTERM) == 143, command.said
    assert "the job did not close within 30 s; it was ended by force" in command.said
    assert f"was committed; the same command resumes from {command.checkpoint}" in command.said
    assert not [pid for pid in below if proc.alive(pid)]
    command.start()
    command.wait_for(lambda: "live page" in command.said)
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed


def test_a_commit_never_ends(job: Jobs, monkeypatch):
    """The job is interrupted a second time meanwhile, and does not wait for it."""
    begun, released, left = threading.Event(), threading.Event(), threading.Event()

    def commit(*_: object) -> None:
        begun.set()
        released.wait(LIMIT_S)
        left.set()
        raise InterruptedError("it was released")

    def stopping() -> bool:
        if begun.is_set():
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(CheckpointStore, "commit", commit)
    monkeypatch.setattr(driver, "LAST_COMMIT_SECONDS", 0.1)
    job.fill(0, 10)
    try:
        with pytest.raises(KeyboardInterrupt):
            job.run(Seen(), stopping=stopping)
        assert not left.is_set()
    finally:
        released.set()
