"""Faults that need no running job do what they say."""

import random

import pytest

from chaos.events import FolderFeed
from chaos.faults import flip_bit
from chaos.history import NEVER, Between, Span
from chaos.job import End, Job
from chaos.workload import STAYING, first_queries, new_query
from pipeline.records import manifest_of, numbers
from runtime.language.parser import parse
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_files import COPIES

KINDS = {"owners/#-#.owner", "owners/#-#.base", "epochs/#-#-#.epoch", "state/#-#-#-#-#-log.state"}


@pytest.fixture
def job(tmp_path):
    """Its checkpoint has two epochs."""
    job = Job(tmp_path, FolderFeed(tmp_path / "input", 1), name="chaos", lateness="3s")
    checkpoints = CheckpointStore(BlobStore(str(job.command.checkpoint)))
    checkpoints.claim(pytest.fail)
    state = f"state/000000002-{checkpoints.files_name(0)}-log.state"
    checkpoints.files.write(state, 2, bytes(1000))
    for epoch in range(2):
        checkpoints.commit(manifest_of(epoch), {"q": numbers(epoch)})
    (job.command.checkpoint / "empty").touch()
    return job


def contents(job):
    folder = job.command.checkpoint
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def bits_changed(before, after):
    assert before.keys() == after.keys()
    changed = {}
    for path, content in before.items():
        pairs = zip(content, after[path], strict=True)
        changed[path] = sum((one ^ other).bit_count() for one, other in pairs)
    return {path: bits for path, bits in changed.items() if bits}


def test_a_flip_changes_one_bit_and_is_mended(job):
    before = contents(job)
    undo = flip_bit(job, random.Random(1))
    assert list(bits_changed(before, contents(job)).values()) == [1]
    undo()
    assert contents(job) == before


def test_flips_go_through_every_kind_of_file(job):
    chance = random.Random(1)
    kinds = {f"{copy}/{kind}" for copy in COPIES for kind in KINDS}
    for _ in range(2 * len(kinds)):
        flip_bit(job, chance)()
    assert job.flipped == dict.fromkeys(kinds, 2)


def test_a_mended_file_may_be_gone(job):
    undo = flip_bit(job, random.Random(1))
    for path in contents(job):
        path.unlink()
    undo()
    assert contents(job) == {}


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
