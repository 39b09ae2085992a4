"""Long streams: numbers far beyond doubles against the exact engine, and memory that stays."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from execution.general.alone import FOREVER, Alone, results
from runtime.execution.operators.general.arena import ITEM, LEFT, NODE, OUT, THREAD, WINDOW
from runtime.language.parser import parse
from runtime.pipeline.engine import Engine, aggregate

CLOSE = Fraction(1, 10**9)


def random_stream(size: int, types: str, seed: int = 1, gap: int = 2) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "time": np.cumsum(random.integers(0, gap, size)),
            "type": random.choice(list(types), size),
            "x": random.integers(-5, 10, size),
            "y": random.integers(1, 10, size),
            "g": random.integers(0, 2, size),
        }
    )


def compare(text: str, table: pa.Table, **options: Any) -> None:
    """Against exact numbers; where those leave a double's range, by their logarithms."""
    exact = aggregate(text, table, numeric="exact", time_unit="us", **options)
    found = results(text, table, [len(table) // 3, len(table) // 2], time_unit="us", **options)
    for name, wanted in exact.items():
        got = found[name].to_pylist()
        assert len(got) == wanted.num_rows > 0
        for row, other in zip(got, wanted.to_pylist(), strict=True):
            for column, value in other.items():
                assert near(row, column, value), (column, row, value)


def near(row: dict[str, Any], column: str, value: Any) -> bool:
    if not isinstance(value, str | float) or row[column] is None:
        return bool(row[column] == value)
    whole = Fraction(value)
    if np.isinf(row[column]):
        # A logarithm carries the relative error as an absolute one.
        size = whole.numerator.bit_length() - 53
        log2 = size + np.log2(float(abs(whole.numerator) >> size))
        return abs(row[f"{column}_log2"] - log2) < 1e-9 * 1.45
    return abs(Fraction(row[column]) - whole) <= CLOSE * abs(whole)


QUERY = "RETURN COUNT(*), SUM(B.y) AS s, COUNT(B) AS n, MAX(B.x) AS m PATTERN {} {} WITHIN {}"


@pytest.mark.parametrize(
    ("pattern", "clauses", "types"),
    [
        ("SEQ(A, B+)", "", "AB"),
        ("SEQ(A, NOT C, B+)", "", "ABBBBBBBB"),
        ("SEQ(A+, NOT C, B+)", "", "AAAAAABBBBBBBBC"),
        ("SEQ(NOT C, A, B+)", "", "ABBB"),
        ("SEQ(A, B+, NOT SEQ(C, D))", "", "ABBBBBCD"),
        ("SEQ(A, B+, NOT SEQ(C, NOT B, D))", "", "ABBBBBCD"),
        ("SEQ(A+, B+)+", "", "ABC"),
        ("SEQ((A | B)+, B, B*)", "", "ABC"),
        ("B+", "WHERE B.x <= NEXT(B).x", "BC"),
        ("SEQ(A, NOT C, B+)", "WHERE LENGTH >= 30", "ABBBBBBBB"),
    ],
)
def test_counts_beyond_all_doubles(pattern: str, clauses: str, types: str) -> None:
    compare(QUERY.format(pattern, clauses, "3000 us SLIDE 700 us"), random_stream(2_400, types))


def test_counts_above_two_to_the_thousand() -> None:
    table = random_stream(4_000, "AB")
    (found,) = results(QUERY.format("SEQ(A, B+)", "", "9000 us"), table, time_unit="us").values()
    assert found["COUNT(*)_log2"][0].as_py() > 1_500


def test_negation_clears_large_counts_and_leaves_small_ones() -> None:
    """2**1500 partial trends end before the C; two begin after it."""
    types = ["B"] * 1_500 + ["C", "A", "A", "D"]
    table = pa.table({"time": range(len(types)), "type": types})
    text = "RETURN COUNT(*) PATTERN (SEQ(B+, NOT C, D) | SEQ(A, D)) WITHIN 10000 us"
    (found,) = results(text, table, time_unit="us").values()
    assert found["COUNT(*)"].to_pylist() == [2.0]


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("SEQ(A, NOT C, B+)", ""),
        ("SEQ(A, NOT C, B+)", "SEMANTICS skip-till-next-match"),
        ("SEQ(NOT C, A, B+)", ""),
        ("SEQ(A, B+, NOT C)", ""),
        ("SEQ(A, NOT SEQ(C, D, C), B+)", ""),
        ("SEQ(A, NOT SEQ(C, NOT D, C), B+)", ""),
        ("SEQ(A, NOT SEQ(C+, NOT SEQ(D, A), D), B+, NOT SEQ(D, C))", ""),
        ("SEQ(A, NOT C, B+) & SEQ(A, NOT D, B)", "SEMANTICS skip-till-next-match"),
        ("SEQ(A, B, NOT D, C)", "SEMANTICS contiguous"),
    ],
)
def test_memory_does_not_grow_with_the_stream(pattern: str, clauses: str) -> None:
    text = f"RETURN COUNT(*) PATTERN {pattern} {clauses} WITHIN 1000000 us SLIDE 500000 us"
    alone = one_run(text)
    feed(alone, random_stream(40_000, "ABCD"))
    pools = alone.run._pools
    assert max(len(pools.items), len(pools.nodes), len(pools.threads)) <= 64
    assert_nothing_left(alone)


def test_state_goes_with_its_window() -> None:
    text = (
        "RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(C c, D d), B+) "
        "WHERE A.x < NEXT(B).x AND c.x < NEXT(d).x WITHIN 300 us SLIDE 100 us"
    )
    alone = one_run(text)
    feed(alone, random_stream(30_000, "ABCD"))
    assert len(alone.run._pools.items) <= 4_096
    assert len(alone.run._pools.threads) <= 1_024
    assert_nothing_left(alone)


def test_a_query_that_joins_late_reports_later_windows() -> None:
    table = random_stream(300, "AB", gap=3)
    text = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 40 us SLIDE 10 us"
    everything = rows(text, table, None)
    assert rows(text, table, 95) == {k: v for k, v in everything.items() if k * 10 >= 95}
    assert rows(text, table, -7) == {k: v for k, v in everything.items() if k >= 0}


def test_slots_are_live_while_they_have_state_or_results() -> None:
    alone = one_run("RETURN COUNT(*) PATTERN A GROUP-BY g WITHIN 10 us")
    table = pa.table({"time": [1, 2, 15], "type": ["A", "B", "A"], "g": [0, 1, 0]})
    feed(alone, table, close=False)
    assert alone.run.live(3).tolist() == [True, False, False]
    assert [c.windows.tolist() for c in alone.run.close_windows(10)] == [[0]]
    assert alone.run.statistics().open_windows == 1
    assert [c.windows.tolist() for c in alone.run.close_windows(FOREVER)] == [[1]]
    assert not alone.run.live(3).any()


def rows(text: str, table: pa.Table, since: int | None) -> dict[int, float]:
    alone = one_run(text)
    alone.run = alone.new_run(since)
    feed(alone, table)
    block = alone.merged()
    assert block is not None
    return dict(zip(block.windows.tolist(), block.count.doubles().tolist(), strict=True))


def one_run(text: str) -> Alone:
    (query,) = parse(text)
    types = {"x": pa.int64(), "g": pa.int64()}
    return Alone(query, types, "strict")


def feed(alone: Alone, table: pa.Table, *, close: bool = True) -> None:
    engine = Engine(_any_query(table), time_unit="us")
    alone.process(engine.prepare(table))
    if close:
        alone.close(FOREVER)


def _any_query(table: pa.Table) -> str:
    """A query that reads all columns, so that the events have them."""
    names = [name for name in table.column_names if name not in ("time", "type")]
    conditions = " AND ".join(f"A.{name} < 1" for name in names) or "LENGTH >= 1"
    return f"RETURN COUNT(*) PATTERN A WHERE {conditions} WITHIN 10 us"


def assert_nothing_left(alone: Alone) -> None:
    """All records are free again once every window has closed."""
    pools = alone.run._pools
    records = {ITEM: pools.items, NODE: pools.nodes, WINDOW: pools.windows, THREAD: pools.threads}
    for pool, array in records.items():
        assert pools.counters[LEFT + pool] == len(array)
    assert pools.counters[OUT] == 0
