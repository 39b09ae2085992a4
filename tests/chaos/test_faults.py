"""Faults that need no running job do what they say."""

import random

import pytest

from chaos.events import FolderFeed
from chaos.history import NEVER, Between, Span
from chaos.job import End, Job
from chaos.workload import STAYING, first_queries, new_query
from runtime.language.parser import parse


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path, FolderFeed(tmp_path / "input", 1), name="chaos", lateness="3s")


def test_an_acknowledged_query_has_its_reported_first_window(job):
    job.added("q", "added q with epoch 7, windows from 1970-01-01T00:05:00+00:00 on\n")
    assert job.spans["q"] == Span(begins=Between(299_999, 299_999))
    job.added("r", "error: cannot connect\n")
    assert not job.spans["r"].acknowledged


def test_queries_that_stay_are_not_removed(job):
    assert set(job.removable()) == set(first_queries()) - STAYING
    job.feed.feed(2)
    job.removed("lone", job.feed.events.rows)
    assert "lone" not in job.removable()
    assert job.spans["lone"].ends != NEVER


def test_every_query_is_one():
    chance = random.Random(1)
    texts = [*first_queries().values(), *(new_query(f"added_{n}", chance) for n in range(20))]
    assert len(parse("".join(texts), "all.sase").queries) == 24


def test_what_an_end_says():
    said = "warning: one\nerror: no room\nhint: make some\n"
    assert str(End(2, said)) == "ended with 2: error: no room"
    assert str(End(-9, "")) == "ended with -9: "
