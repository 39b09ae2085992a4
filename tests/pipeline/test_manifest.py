"""A manifest is read as it was written, or not at all."""

import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from runtime.language.parser import parse
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.pipeline.dead_letter import dead_rows, dead_source
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.state_segments import SavedUnit, Segment

FIRST = parse("QUERY a RETURN COUNT(*) PATTERN A WITHIN 1 minute\nQUERY b RETURN COUNT(*) "
              "PATTERN SEQ(A, B+) WHERE [g] WITHIN 1 minute", "first.sase")  # fmt: skip
SECOND = parse("QUERY c RETURN COUNT(*) PATTERN C WITHIN 1 minute", "second.sase")
COLUMNS = pa.schema(
    [
        pa.field("time", pa.timestamp("ms", "UTC")),
        pa.field("type", pa.string(), nullable=False),
        pa.field("g", pa.dictionary(pa.int32(), pa.string())),
        pa.field("ünïcode", pa.decimal128(9, 2)),
    ]
)


@pytest.fixture
def manifest() -> Manifest:
    return Manifest(
        epoch=7,
        job="first",
        source="kafka://host/topic",
        position={"offsets": {"0": 12, "1": 2**60}, "files": []},
        watermark=-5,
        newest=2**62,
        clocks={"0": 12, "ä": -1},
        workload=FIRST.without_query("a").with_queries(tuple(SECOND)),
        since={"c": 99},
        given={"b": "mark"},
        input_format=InputFormat("time", "type", "ms", COLUMNS, pa.timestamp("us", "UTC")),
        settings={"numeric": "exact", "ties": "arrival"},
        shards=8,
        units={
            (("g",), 3): SavedUnit(
                Segment("state/1", 0, 5, 2**32 - 1, None), (Segment("x", 1, 2, 3, 4),)
            ),
            ((), 0): SavedUnit(),
        },
        counts=RunCounts(
            rows=10,
            events=8,
            late=1,
            truncated=2,
            dead=Counter({"the time is null": 2}),
            null_keys=Counter(g=3),
            results=Counter(b=4),
            lost=1,
            types={"A", "B"},
            other_types={"Z"},
        ),
        outbox=("epochs/6", "epochs/7"),
        outbox_bytes=99,
        publishes=False,
        changed=True,
    )


def test_round_trip(manifest: Manifest) -> None:
    found = Manifest.from_bytes(manifest.to_bytes())
    assert replace(found, workload=manifest.workload) == manifest
    assert [query.name for query in found.workload] == ["b", "c"]
    assert [query.source.file for query in found.workload] == ["first.sase", "second.sase"]
    assert found.to_bytes() == manifest.to_bytes()
    assert found.files == {"state/1", "x", "epochs/6", "epochs/7"}


def test_nothing_may_be_missing(manifest: Manifest) -> None:
    bare = replace(
        manifest,
        watermark=None,
        newest=None,
        input_format=replace(manifest.input_format, clock=None, time_unit=None),
        units={},
        outbox=(),
        finished=True,
    )
    found = Manifest.from_bytes(bare.to_bytes())
    assert replace(found, workload=bare.workload) == bare
    assert found.files == set()


def test_counts_are_copied_deeply(manifest: Manifest) -> None:
    copy = manifest.counts.copy()
    assert copy == manifest.counts
    copy.dead["x"] += 1
    copy.types.add("C")
    assert copy.dead != manifest.counts.dead
    assert copy.types != manifest.counts.types


@pytest.mark.parametrize("length", [0, 1, 50, 100, 1000])
def test_cut(manifest: Manifest, length: int) -> None:
    with pytest.raises(CorruptCheckpoint, match="is not a manifest"):
        Manifest.from_bytes(manifest.to_bytes()[:length])


@pytest.mark.parametrize("field", ["workload", "units", "counts", "position", "job"])
def test_a_field_is_missing(manifest: Manifest, field: str) -> None:
    data = json.loads(manifest.to_bytes())
    del data[field]
    with pytest.raises(CorruptCheckpoint, match="epochs/7 is not a manifest"):
        Manifest.from_bytes(json.dumps(data).encode(), "epochs/7")


def test_rows_without_numbers_are_not_lost_sources():
    """Rows of Spark's frames have no numbers, but their dead letters have their columns."""
    counts = RunCounts()
    counts.add_dead(dead_rows("a frame", [None, None], ["bad", "bad"], ["{}", "{}"]))
    assert (counts.dead["bad"], counts.lost) == (2, 0)
    counts.add_dead(dead_source("a.csv", "damaged"))
    assert (counts.dead.total(), counts.lost) == (3, 1)
