"""Float tables written by columns are those that the plain writer makes of the same totals."""

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from execution.columns import column, values_of
from runtime.execution.column import MaskedColumn, whole_order
from runtime.execution.exact import executor as plain
from runtime.execution.exact.results import ExactWriter, TotalsMerge
from runtime.execution.exact.trends import Totals
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.rationals import whole
from runtime.execution.result_writer import FloatWriter
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ClosedWindows, ExtremeColumn, merge
from runtime.language.parser import parse
from runtime.language.query import Fold, Query
from runtime.types.time_codec import TimeCodec

TYPES = {
    "x": pa.int64(),
    "u": pa.uint64(),
    "d": pa.float64(),
    "g": pa.string(),
    "h": pa.int64(),
    "k": pa.float64(),
    "b": pa.bool_(),
    "at": pa.timestamp("us"),
}
RETURNS = [
    "COUNT(*)",
    "COUNT(A)",
    "SUM(A.x)",
    "SUM(A.d)",
    "AVG(A.x)",
    "AVG(A.d)",
    "AVG(A.u)",
    "MIN(A.x)",
    "MAX(A.d)",
    "MIN(A.u)",
    "MAX(A.u)",
]
HAVINGS = [
    "COUNT(*) > 5",
    "COUNT(*) / COUNT(A) > 1",
    "MIN(A.x) > 2 OR MAX(A.d) <= 1.5",
    "MAX(A.u) >= 9223372036854775808",
    "SUM(A.x) > -1000 AND COUNT(*) * 2 < 1000",
    "SUM(A.x) IS NULL",
    "AVG(A.x) BETWEEN -10 AND 1000000",
    "NOT COUNT(*) IN (1, 2, 3)",
    "COUNT(*) > 1e307",
    "COUNT(*) - COUNT(A) > 0",
    "MIN(A.x) = MAX(A.d)",
]
WINDOWS = ["5 seconds", "10 seconds SLIDE 1 second", "8 events SLIDE 2 events"]


def random_query(rng: random.Random) -> Query:
    groups = rng.sample(["g", "h", "k", "b", "at"], rng.choice([0, 1, 1, 2]))
    returned = rng.sample(RETURNS, rng.randint(1, 5))
    having = rng.choice([None, *HAVINGS, "g = 'a' OR g < 'b'" if "g" in groups else None])
    return parse(
        f"RETURN {', '.join([*groups, *returned])} PATTERN A+ "
        + ("GROUP-BY " + ", ".join(groups) if groups else "")
        + (f" HAVING {having}" if having else "")
        + f" WITHIN {rng.choice(WINDOWS)}"
    ).queries[0]


def as_numbers(values: list[Fraction]) -> WideFloatColumn:
    """Each rounded once to a mantissa and an exponent."""
    mantissas, exponents = [], []
    for value in values:
        exponent = 0
        while abs(value) >= 2**512:
            value /= 2**512
            exponent += 1
        mantissas.append(value.numerator / value.denominator)
        exponents.append(exponent)
    return WideFloatColumn(np.array(mantissas, np.float64), np.array(exponents, np.int32))


class Outcome:
    """Random totals of partitions, in both forms."""

    def __init__(self, rng: random.Random, query: Query, rows: int, most: int) -> None:
        self.query = query
        types = {name: TYPES[name] for name in query.partition_by}
        self.keys = PartitionIndex(types)
        self.columns = [column(rng, t, rows) for t in types.values()]
        batch = pa.record_batch([*self.columns, pa.nulls(rows)], [*types, "_"])
        self.slots = self.keys.slots(batch)
        self.windows = [rng.randint(0, 3) for _ in range(rows)]
        self.counts = [rng.randint(1, most) for _ in range(rows)]
        self.lanes = [self._lane(rng, lane, rows, most) for lane in query.lanes]

    def _lane(self, rng: random.Random, lane, rows: int, most: int) -> list:
        if lane.fold is not Fold.SUM:
            return column(rng, TYPES[lane.attribute], rows).to_pylist()
        if lane.input.is_count:
            return [rng.choice([0, rng.randint(1, most)]) for _ in range(rows)]
        if pa.types.is_floating(TYPES[lane.attribute]):
            return [rng.randint(-1000, 1000) / 8 for _ in range(rows)]
        return [rng.randint(-most, most) for _ in range(rows)]

    def blocks(self, parts: int) -> list:
        places = [self.query.partition_by.index(name) for name in self.query.group_by]
        cuts = np.array_split(np.arange(len(self.windows)), parts)
        closed = [self._closed(rows) for cut in cuts for rows in self._once(cut.tolist())]
        return [each.block(self.keys, places) for each in closed]

    def _once(self, rows: list[int]) -> list[list[int]]:
        """The rows in lists that have every window and partition once, as closed windows do."""
        lists: list[list[int]] = []
        seen: Counter[tuple[int, int]] = Counter()
        for row in rows:
            place = self.windows[row], int(self.slots[row])
            if seen[place] == len(lists):
                lists.append([])
            lists[seen[place]].append(row)
            seen[place] += 1
        return lists

    def _closed(self, rows: list[int]) -> ClosedWindows:
        lanes = []
        for lane, values in zip(self.query.lanes, self.lanes, strict=True):
            picked = [values[row] for row in rows]
            if lane.fold is Fold.SUM:
                lanes.append(as_numbers([Fraction(value) for value in picked]))
            else:
                cells = MaskedColumn.of(pa.array(picked, TYPES[lane.attribute]))
                lanes.append(ExtremeColumn(whole_order(cells.values), cells.mask(len(rows))))
        return ClosedWindows(
            self.query.name,
            np.array([self.windows[row] for row in rows], np.int64),
            self.slots[rows],
            as_numbers([Fraction(self.counts[row]) for row in rows]),
            lanes,
        )

    def plain(self) -> list[plain.WindowTotals]:
        values = dict(zip(self.query.partition_by, map(values_of, self.columns), strict=True))
        found = []
        for row, window in enumerate(self.windows):
            group = tuple(values[name][row] for name in self.query.group_by)
            lanes = []
            for lane, column_ in zip(self.query.lanes, self.lanes, strict=True):
                value = column_[row]
                doubles = (
                    lane.fold is Fold.SUM and not lane.input.is_count and lane.attribute == "d"
                )
                lanes.append(whole(value) if doubles else value)
            found.append(
                plain.WindowTotals(self.query.name, window, group, Totals(self.counts[row], lanes))
            )
        return found


def same(found: pa.Table, expected: pa.Table, *, exact: bool) -> None:
    assert found.schema == expected.schema
    for name in expected.column_names:
        pairs = zip(values_of(found[name]), values_of(expected[name]), strict=True)
        for one, other in pairs:
            if exact or not isinstance(other, float) or math.isinf(other):
                assert one == other, name
            else:
                assert one == pytest.approx(other, rel=1e-12), name


@pytest.mark.parametrize("most", [50, 2**40, 2**900, 2**3000])
@pytest.mark.parametrize("seed", range(30))
def test_same_tables(seed, most):
    rng = random.Random(seed)
    query = random_query(rng)
    outcome = Outcome(rng, query, rng.choice([1, 8, 40]), most)
    clock = rng.choice([TimeCodec(pa.timestamp("ms")), TimeCodec(pa.int64(), "us")])
    together = TotalsMerge([query])
    together.add(outcome.plain())
    expected = ExactWriter(query, TYPES, "float").table(together.drain(query.name), clock)
    merged = merge(outcome.blocks(rng.randint(1, 3)), [lane.fold for lane in query.lanes])
    found = FloatWriter(query, TYPES).table(merged, clock)
    same(found, expected, exact=most <= 2**40)


@pytest.mark.parametrize("known", [True, False])
def test_no_rows(known):
    rng = random.Random(1)
    for _ in range(20):
        query = random_query(rng)
        types, clock = (TYPES, TimeCodec(pa.timestamp("ms"))) if known else ({}, None)
        expected = ExactWriter(query, types, "float").table({}, clock)
        assert FloatWriter(query, types).table(None, clock).equals(expected)


@pytest.mark.parametrize("by", [["g"], ["h"], ["g", "h"], ["h", "g"], []])
def test_only_what_is_there_twice_is_added_up(by):
    grouped = f" GROUP-BY {', '.join(by)}" if by else ""
    query = parse(f"RETURN COUNT(*) PATTERN A+{grouped} WITHIN 1 second").queries[0]
    keys = PartitionIndex({"g": pa.string(), "h": pa.int64()})
    columns = [pa.array(["b", "a", "b", None]), pa.array([1, 1, 2, 2])]
    slots = keys.slots(pa.record_batch(columns, ["g", "h"]))
    one = ClosedWindows(
        query.name, np.zeros(4, np.int64), slots, WideFloatColumn.of([1.0, 2.0, 4.0, 8.0]), []
    )
    places = [["g", "h"].index(name) for name in by]
    for times in (1, 2):
        expected: Counter[tuple] = Counter()
        for g, h, count in zip(*(c.to_pylist() for c in columns), [1, 2, 4, 8], strict=True):
            expected[tuple({"g": g, "h": h}[name] for name in by)] += times * count
        merged = merge([one.block(keys, places)] * times, [])
        found = FloatWriter(query, TYPES).table(merged, TimeCodec(pa.timestamp("us")))
        rows = sorted(expected.items(), key=lambda row: [(v is not None, v) for v in row[0]])
        assert found["COUNT(*)"].to_pylist() == [count for _, count in rows]


def test_a_table_keeps_nothing_of_the_run():
    query = parse("RETURN COUNT(*), MIN(A.x) PATTERN A+ WITHIN 1 second").queries[0]
    out = np.array([5.0, 6.0])
    for rows in (slice(0, 1), slice(0, 2)):
        count = WideFloatColumn(out[rows], np.zeros(len(out[rows]), np.int32))
        least = ExtremeColumn(out.view(np.int64)[rows], np.array([True, False])[rows])
        windows = np.arange(len(out[rows]))
        closed = ClosedWindows(
            query.name, windows, np.zeros(len(windows), np.int32), count, [least]
        )
        table = FloatWriter(query, TYPES).table(
            merge([closed.block(PartitionIndex({}), [])], [Fold.MIN]), TimeCodec(pa.int64(), "us")
        )
        before = table.to_pylist()
        out += 1
        assert table.to_pylist() == before


HUGE = WideFloatColumn(np.array([1.0, 3.0, 2.0]), np.array([9, 9, 10], np.int32))


@pytest.mark.parametrize(
    ("having", "kept"),
    [
        ("COUNT(*) > 1e308", [0, 1, 2]),
        ("COUNT(*) < 10", []),
        ("COUNT(*) > COUNT(A)", [1, 2]),
        ("COUNT(*) = COUNT(A)", [0]),
        ("COUNT(*) / COUNT(A) < 4", [0, 1]),
        ("COUNT(*) - COUNT(A) > 0", [1, 2]),
    ],
)
def test_having_beyond_doubles(having, kept):
    query = parse(f"RETURN COUNT(*) PATTERN A+ HAVING {having} WITHIN 1 second").queries[0]
    lanes = [WideFloatColumn(np.ones(3), np.full(3, 9, np.int32)) for _ in query.lanes]
    closed = ClosedWindows(query.name, np.arange(3), np.zeros(3, np.int32), HUGE, lanes)
    table = FloatWriter(query, {}).table(
        closed.block(PartitionIndex({}), []), TimeCodec(pa.timestamp("us"))
    )
    starts = [start.second for start in table["window_start"].to_pylist()]
    assert starts == kept
