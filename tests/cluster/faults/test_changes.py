"""A job that is stopped goes on with other actors and other queries."""

import pytest

from cluster.faults import stream
from cluster.faults.job import RecordingScreen
from cluster.faults.stream import written
from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore

BEFORE, AFTER = stream.KEPT + stream.BY_DISTRICT, stream.KEPT + stream.LONE


def some(job, epochs, **given):
    """Some more epochs."""
    seen = RecordingScreen()
    job.run(seen, stopping=lambda: len(seen.reports) >= epochs, **given)
    return seen


def newest_time(job):
    """In milliseconds, of all events so far."""
    return CheckpointStore(BlobStore(str(job.checkpoint))).last().newest // 1000


def window_start(row):
    return dict(row)["window_start"]


def test_another_number_of_actors(job, undisturbed):
    job.fill()
    for actors in (2, 3, 1, 8):
        some(job, 7, actors=actors)
    job.run(RecordingScreen(), actors=4)
    assert written(job.output) == undisturbed


def test_more_actors_than_shards(job):
    job.fill(0, 2)
    some(job, 2)
    with pytest.raises(HamletError, match="too few for --actors 9"):
        job.run(RecordingScreen(), actors=9)


def test_queries_come_and_go(job, undisturbed):
    """Those that stay keep their state, one that comes counts from here on."""
    job.fill()
    some(job, 12, workload=BEFORE)
    gone = written(job.output)["by_district.parquet"]
    since = newest_time(job)
    job.run(RecordingScreen(), workload=AFTER)
    found = written(job.output)
    for name in ("rises.parquet", "ends.parquet", "_late", "_dead_letter"):
        assert found[name] == undisturbed[name], name
    assert found["by_district.parquet"] == gone
    assert gone.total() > 10
    wanted = {row for row in undisturbed["lone.parquet"] if window_start(row) > since}
    assert len(wanted) > 100
    assert set(found["lone.parquet"]) == wanted
    assert set(found["lone.parquet"].values()) == {1}


def test_a_changed_query_is_refused(job, undisturbed):
    job.fill()
    some(job, 10)
    changed = stream.WORKLOAD.replace("A.value > 90", "A.value > 80")
    with pytest.raises(HamletError, match="`by_district` is not the query of the checkpoint"):
        job.run(RecordingScreen(), workload=changed)
    job.run(RecordingScreen())
    assert written(job.output) == undisturbed
