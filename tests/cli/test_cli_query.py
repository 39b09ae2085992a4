"""`hamlet query` where there is no job to ask, or none yet."""

import os
from pathlib import Path

import pytest

from hamlet.job import jobs
from hamlet.job.jobs import Job


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path / "cache"))


def test_no_job(hamlet):
    done = hamlet("query", "list")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: no job is running on this machine\n")


@pytest.mark.parametrize("command", [("list",), ("add", "ride.sase"), ("remove", "ride")])
def test_a_job_that_is_starting(hamlet, command: tuple[str, ...]):
    with jobs.listed(Job("rides", os.getpid())):
        done = hamlet("query", *command)
        assert done.exit_code == 1
        assert done.stderr.startswith("error: `rides` is still starting\n")
        assert "no job is called" in hamlet("query", *command, "--job", "stocks").stderr
    assert not jobs.running()


def test_a_job_that_has_started_can_be_asked():
    with jobs.listed(Job("rides", os.getpid())):
        started = Job("rides", os.getpid(), "127.0.0.1:6379", "hamlet")
        jobs.tell(started)
        assert jobs.find(None) == jobs.find("rides") == started


def test_a_job_that_ends_leaves_another_of_its_name_alone():
    ending, other = Job("rides", 1), Job("rides", os.getpid())
    jobs.tell(other)
    jobs.forget(ending)
    assert jobs.running() == [other]
    jobs.forget(other)
    assert not jobs.running()
