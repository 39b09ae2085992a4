"""Blocks of rows on their way: every event reaches its shard once, in order; the rest is stats."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from runtime.language.parser import parse
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import dead_rows, no_dead
from runtime.pipeline.event_extractor import OTHER_TYPES
from runtime.pipeline.partitioner import shards_of
from runtime.pipeline.router import BlockRouter, Portion, joined_rows, renumbered
from runtime.pipeline.routing_table import InputFormat, RoutingTable
from runtime.types.columns import TIME, TYPE

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


def block(batch: pa.RecordBatch, dead: pa.Table | None = None, source: str = "s") -> RowBlock:
    return RowBlock(batch, source, np.arange(batch.num_rows), no_dead() if dead is None else dead)


def split(
    blocks: Sequence[RowBlock], owners: int, watermark: int | None = None, workload=TWO
) -> tuple[list[list[Portion]], BlockRouter]:
    input_format = InputFormat(columns=blocks[0].batch.schema)
    routing = RoutingTable.of(workload, input_format, SHARDS, owners)
    router = BlockRouter(routing, watermark)
    return router.route(blocks), router


@pytest.mark.parametrize("owners", [1, 2, 4, 6])
def test_every_event_is_in_its_shard_once_and_in_order(owners: int) -> None:
    batches = [stream(200), stream(300)]
    found, router = split([block(each) for each in batches], owners)
    routing = RoutingTable.of(TWO, InputFormat(columns=batches[0].schema), SHARDS, owners)
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
    found, _ = split([block(stream(50))], 1)
    columns = {portion.route: portion.events.schema.names for portion in found[0]}
    assert columns == {0: [TIME, TYPE, "g"], 1: [TIME, TYPE]}


def test_what_is_behind_the_watermark_is_late() -> None:
    batch = pa.record_batch(
        {
            "time": pa.array([5, 1, None, 4, 3]),
            "type": pa.array(["A", "A", "A", None, "Z"]),
            "g": pa.array([1, 2, 3, 4, 5]),
        }
    )
    found, router = split([block(batch)], 1, 4_000_000)
    stats = router.stats
    assert (stats.rows, stats.events, stats.newest) == (5, 1, 5_000_000)
    assert joined_rows(stats.dead)["row"].to_pylist() == [2, 3]
    late = joined_rows(stats.late).to_pylist()
    assert [(row["source"], row["row"]) for row in late] == [("s", 1), ("s", 4)]
    assert [row["reason"] for row in late] == [
        "3 s behind the watermark 1970-01-01T00:00:04.000000",
        "1 s behind the watermark 1970-01-01T00:00:04.000000",
    ]
    assert late[0]["event"] == '{"time": 1, "type": "A", "g": 2}'
    events = [row for each in found[0] for row in each.events.column(TIME).to_pylist()]
    assert set(events) == {5_000_000}


def test_at_the_watermark_is_in_time() -> None:
    batch = pa.record_batch({"time": pa.array([4]), "type": pa.array(["A"]), "g": pa.array([1])})
    _, router = split([block(batch)], 1, 4_000_000)
    assert (router.stats.events, router.stats.late) == (1, [])


def test_rows_that_were_dead_before_are_told() -> None:
    dead = dead_rows("s", [7, None], ["broken", "damaged"], ["{", None])
    _, router = split([block(stream(3), dead)], 2)
    assert router.stats.rows == 4  # what is no row is not counted as one
    assert joined_rows(router.stats.dead).equals(dead)


def test_nothing_but_dead_rows() -> None:
    batch = pa.record_batch(
        {"time": pa.nulls(3, pa.int64()), "type": pa.array(["A"] * 3), "g": pa.array([1] * 3)}
    )
    found, router = split([block(batch)], 2)
    assert found == [[], []]
    assert (router.stats.events, router.stats.newest) == (0, None)


def test_few_names_of_other_types_are_kept() -> None:
    names = [f"T{n}" for n in range(50)]
    batch = pa.record_batch(
        {"time": pa.array(range(50)), "type": pa.array(names), "g": pa.array(range(50))}
    )
    _, router = split([block(batch)], 1)
    assert len(router.stats.other_types) == OTHER_TYPES


def test_rows_of_a_piece_are_numbered_from_its_first() -> None:
    rows = dead_rows("s", [0, None, 4], ["a", "b", "c"], ["", None, ""])
    assert renumbered(rows, 10)["row"].to_pylist() == [10, None, 14]
    assert renumbered(rows, 0) is rows
    assert renumbered(no_dead(), 10).num_rows == 0
