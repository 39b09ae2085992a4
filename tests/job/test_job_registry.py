"""Which jobs run on this machine: one that was killed is not among them, whoever has its number."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hamlet.job import job_registry
from hamlet.job.job_registry import Job, is_alive, registered, running
from runtime.errors import HamletError

ROOT = Path(__file__).parents[2]
OTHER = """
import os, sys
from hamlet.job.job_registry import Job, registered
with registered(Job("rides", os.getpid(), "127.0.0.1:6379")):
    print("registered", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path))
    return tmp_path / "jobs"


@contextmanager
def other_job() -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "registered\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def left_by(pid: int) -> None:
    """What a job leaves that is killed. The process of that number is another one by now."""
    with other_job() as process:
        process.kill()
    (path,) = job_registry.cache_of("jobs").glob("*.json")
    path.write_text(path.read_text().replace(f'"pid": {process.pid}', f'"pid": {pid}'))


@pytest.mark.parametrize("pid", [1, os.getpid(), os.getppid()], ids=["init", "own", "parent"])
def test_a_number_that_is_used_again(pid: int):
    left_by(pid)
    job = Job("rides", os.getpid())
    with registered(job):
        assert running() == [job]
    assert running() == []


def test_files_of_killed_jobs_are_removed(jobs: Path):
    left_by(1)
    assert running() == []
    assert list(jobs.glob("*.json")) == []


def test_a_job_that_runs():
    with other_job() as process:
        (found,) = running()
        assert found.pid == process.pid
        assert is_alive(found)
        with pytest.raises(HamletError, match="a job called `rides` is already running") as error:
            registered(Job("rides", os.getpid())).__enter__()
        assert error.value.hint == "give this one another --name"
        with registered(Job("stocks", os.getpid())):
            assert [job.name for job in running()] == ["rides", "stocks"]
        process.communicate("\n")
    assert not is_alive(found)


def test_a_job_that_was_started_again():
    with other_job():
        (found,) = running()
    with other_job():
        assert not is_alive(found)
        assert is_alive(running()[0])


def test_a_job_that_ends_can_no_longer_be_asked():
    """It is there until it has ended."""
    job = Job("rides", os.getpid())
    with registered(job):
        job_registry.unregister(job)
        assert running() == []
        assert is_alive(job)


def test_readers_do_not_keep_a_job_from_its_start():
    left_by(1)
    stopped = threading.Event()

    def read() -> None:
        while not stopped.is_set():
            running()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(200):
            with registered(Job("rides", os.getpid())):
                pass
    finally:
        stopped.set()
        reader.join()
