"""Blocks of rows on their way: every event reaches its shard once, in order; the rest is stats."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from pipeline.blocks import exported, shards_of
from runtime.language.parser import parse
from runtime.pipeline.dead_letter import dead_rows, no_dead
from runtime.pipeline.event_block import FAULT, RAW, CheckedBlock, Origin
from runtime.pipeline.event_contract import Reason
from runtime.pipeline.event_extractor import OTHER_TYPES
from runtime.pipeline.router import BlockRouter, Portion, joined_rows, renumbered
from runtime.pipeline.routing_table import InputFormat, RoutingTable
from runtime.types.columns import PANE, TIME, TYPE

TWO = parse("""
    QUERY by_g RETURN g, COUNT(*) PATTERN SEQ(A, B+) GROUP-BY g WITHIN 1 minute
    QUERY every RETURN COUNT(*) PATTERN A WITHIN 1 minute
""")
SHARDS = 6


def stream(rows: int) -> pa.RecordBatch:
    draw = np.random.default_rng(rows)
    return pa.record_batch(
        {
            "time": pa.array(draw.integers(0, 100, rows)),
            "type": pa.array([("A", "B", "Z")[n] for n in draw.integers(0, 3, rows)]),
            "g": pa.array(draw.integers(0, 20, rows), mask=draw.random(rows) < 0.1),
            "n": pa.array(range(rows)),
        }
    )


def routing_of(columns: pa.Schema, owners: int, workload=TWO) -> RoutingTable:
    return RoutingTable.of(workload, InputFormat(columns=columns), SHARDS, owners)


def split(
    batches: Sequence[pa.RecordBatch], owners: int
) -> tuple[list[list[Portion]], BlockRouter]:
    routing = routing_of(batches[0].schema, owners)
    router = BlockRouter(routing, None)
    return router.route([exported(each, routing) for each in batches]), router


def faulty(batch: pa.RecordBatch, faults: dict[int, Reason]) -> CheckedBlock:
    """A block some of whose rows are no events in time, as they were read."""
    block = exported(batch, routing_of(batch.schema, 1))
    given = [faults.get(row, Reason.VALID).fault() for row in range(batch.num_rows)]
    raw = [f"row {row}" if row in faults else None for row in range(batch.num_rows)]
    columns = dict(zip(block.batch.schema.names, block.batch.columns, strict=True))
    columns |= {FAULT: pa.array(given, pa.int32()), RAW: pa.array(raw, pa.string())}
    return replace(block, batch=pa.record_batch(columns), origin=Origin("s"))


@pytest.mark.parametrize("owners", [1, 2, 4, 6])
def test_every_event_is_in_its_shard_once_and_in_order(owners: int) -> None:
    batches = [stream(200), stream(300)]
    found, router = split(batches, owners)
    routing = routing_of(batches[0].schema, owners)
    got: dict[tuple[int, int], list[tuple[int, str, int]]] = {}
    for owner, portions in enumerate(found):
        for portion in portions:
            for place, shard in enumerate(routing.owned(owner)):
                events = portion.of_shard(place)
                key = "g" if portion.route == 0 else TIME
                columns = (events.column(name).to_pylist() for name in (TIME, TYPE, key))
                got.setdefault((portion.route, shard), []).extend(zip(*columns, strict=True))
    wanted: dict[tuple[int, int], list[tuple[int, str, int]]] = {}
    for batch in batches:
        shards = shards_of([batch["g"]], batch.num_rows, SHARDS).tolist()
        for row, shard in zip(batch.to_pylist(), shards, strict=True):
            time = row["time"] * 1_000_000
            if row["type"] != "Z":
                wanted.setdefault((0, shard), []).append((time, row["type"], row["g"]))
            if row["type"] == "A":
                wanted.setdefault((1, 0), []).append((time, row["type"], time))
    assert {unit: events for unit, events in got.items() if events} == wanted
    stats = router.stats
    assert (stats.rows, stats.events) == (500, 500)
    assert (stats.types, stats.other_types) == ({"A", "B"}, {"Z"})
    nulls = sum(
        1 for b in batches for row in b.to_pylist() if row["g"] is None and row["type"] != "Z"
    )
    assert stats.null_keys == Counter({"g": nulls})


def test_portions_have_only_the_columns_of_their_route() -> None:
    found, _ = split([stream(50)], 1)
    columns = {portion.route: portion.events.schema.names for portion in found[0]}
    assert columns == {0: [TIME, TYPE, "g", PANE], 1: [TIME, TYPE, PANE]}


def test_rows_that_are_no_events_in_time() -> None:
    batch = pa.record_batch(
        {
            "time": pa.array([5, 1, 0, 0, 3]),
            "type": pa.array(["A", "A", "A", "A", "Z"]),
            "g": pa.array([1, 2, 3, 4, 5]),
        }
    )
    faults = {1: Reason.LATE, 2: Reason.NO_TIME, 3: Reason.NO_TYPE, 4: Reason.LATE}
    router = BlockRouter(routing_of(batch.schema, 1), 4_000_000)
    found = router.route([faulty(batch, faults)])
    stats = router.stats
    assert (stats.rows, stats.events, stats.newest) == (5, 1, 5_000_000)
    assert joined_rows(stats.dead).to_pylist() == [
        {"source": "s", "row": 2, "reason": "the time is null", "event": "row 2"},
        {"source": "s", "row": 3, "reason": "the type is null", "event": "row 3"},
    ]
    late = joined_rows(stats.late).to_pylist()
    assert [(row["row"], row["event"]) for row in late] == [(1, "row 1"), (4, "row 4")]
    assert [row["reason"] for row in late] == [
        "3 s behind the watermark 1970-01-01T00:00:04.000000",
        "1 s behind the watermark 1970-01-01T00:00:04.000000",
    ]
    events = [row for each in found[0] for row in each.events.column(TIME).to_pylist()]
    assert set(events) == {5_000_000}


def test_nothing_but_dead_rows() -> None:
    batch = stream(3)
    router = BlockRouter(routing_of(batch.schema, 2), None)
    found = router.route([faulty(batch, dict.fromkeys(range(3), Reason.NO_TIME))])
    assert found == [[], []]
    assert (router.stats.events, router.stats.newest) == (0, None)


def test_panes_are_those_of_the_blocks() -> None:
    """Latency counts on the panes that Spark computed, not on the times."""
    batch = stream(40)
    block = exported(batch, routing_of(batch.schema, 1))
    place = block.batch.schema.get_field_index(PANE)
    other = block.batch.set_column(place, PANE, pa.array([7] * 40))
    router = BlockRouter(routing_of(batch.schema, 1), None)
    router.route([replace(block, batch=other)])
    assert {name: each.tolist() for name, each in router.stats.panes[0].items()} == {
        "A": [7],
        "B": [7],
    }


def test_a_block_without_panes_is_an_error() -> None:
    batch = stream(40)
    block = exported(batch, routing_of(batch.schema, 1))
    with pytest.raises(KeyError, match="__pane__"):
        BlockRouter(routing_of(batch.schema, 1), None).route(
            [replace(block, batch=block.batch.drop_columns([PANE]))]
        )


def test_few_names_of_other_types_are_kept() -> None:
    names = [f"T{n}" for n in range(50)]
    batch = pa.record_batch(
        {"time": pa.array(range(50)), "type": pa.array(names), "g": pa.array(range(50))}
    )
    _, router = split([batch], 1)
    assert len(router.stats.other_types) == OTHER_TYPES


def test_rows_of_a_piece_are_numbered_from_its_first() -> None:
    rows = dead_rows("s", [0, None, 4], ["a", "b", "c"], ["", None, ""])
    assert renumbered(rows, 10)["row"].to_pylist() == [10, None, 14]
    assert renumbered(rows, 0) is rows
    assert renumbered(no_dead(), 10).num_rows == 0
