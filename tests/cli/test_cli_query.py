"""`hamlet query` where there is no job to ask, or none yet."""

import os
from pathlib import Path

import pytest

from hamlet.cli.query import first_windows
from hamlet.job import job_registry
from hamlet.job.job_registry import Job
from runtime.language.parser import parse


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path / "cache"))


def test_no_job(hamlet):
    done = hamlet("query", "list")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: no job is running on this machine\n")


@pytest.mark.parametrize("command", [("list",), ("add", "ride.sase"), ("remove", "ride")])
def test_a_job_that_is_starting(hamlet, command: tuple[str, ...]):
    with job_registry.registered(Job("rides", os.getpid())):
        done = hamlet("query", *command)
        assert done.exit_code == 1
        assert done.stderr.startswith("error: `rides` is still starting\n")
        assert "no job is called" in hamlet("query", *command, "--job", "stocks").stderr
    assert not job_registry.running()


def test_a_job_that_has_started_can_be_asked():
    with job_registry.registered(Job("rides", os.getpid())):
        started = Job("rides", os.getpid(), "127.0.0.1:6379", "hamlet")
        job_registry.register(started)
        assert job_registry.find(None) == job_registry.find("rides") == started


QUERIES = """
QUERY tens    RETURN COUNT(*) PATTERN A+ WITHIN 10 seconds
QUERY sliding RETURN COUNT(*) PATTERN A+ WITHIN 1 minute SLIDE 10 seconds
QUERY minutes RETURN COUNT(*) PATTERN A+ WITHIN 1 minute
QUERY last    RETURN COUNT(*) PATTERN A+ WITHIN 100 events
"""


def test_the_first_window_of_an_added_query_is_one():
    tens, sliding, minutes, last = parse(QUERIES)
    since = 1_704_067_201_000_000  # 2024-01-01, 00:00:01
    assert first_windows([tens, sliding], since) == ", windows from 2024-01-01T00:00:10+00:00 on"
    assert first_windows([tens], since + 9_000_000) == ", windows from 2024-01-01T00:00:10+00:00 on"
    assert first_windows([tens], since + 9_000_001) == ", windows from 2024-01-01T00:00:20+00:00 on"
    assert first_windows([last], since) == ", from the next event on"
    assert first_windows([tens, minutes, sliding], since) == (
        "; tens, sliding: windows from 2024-01-01T00:00:10+00:00 on"
        "; minutes: windows from 2024-01-01T00:01:00+00:00 on"
    )
    assert first_windows([tens], None) == "", "there was no event yet"


@pytest.mark.parametrize("command", ["list", "add", "remove"])
def test_the_help_has_an_example(hamlet, command: str):
    assert (
        f"hamlet query {command}" in hamlet("query", command, "--help").stdout.split("Examples")[-1]
    )
