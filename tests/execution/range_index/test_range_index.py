"""Ordered runs against the plain engine, over random streams."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from execution.range_index.running import Together, check, results
from runtime.pipeline.engine import Engine
from runtime.plan.operators.operator_node import OperatorNode

OPERATORS = ("<", "<=", "=", "!=", ">=", ">")
SHARING = ("dynamic", "always", "never")


def stream(
    rng: random.Random, size: int, types: str = "ABC", *, keys: int = 2, values: int = 5
) -> pa.Table:
    time, rows = 0, []
    for _ in range(size):
        time += rng.choice((0, 1, 1, 1, 2, 5))
        rows.append(
            {
                "time": time,
                "type": rng.choice(types),
                "k": rng.randrange(keys),
                "x": rng.choice((None, *range(values), *range(values))),
                "y": rng.choice((None, *(i / 2 for i in range(2 * values)))),
                "n": rng.randrange(-3, 9),
                "b": rng.choice((True, False)),
            }
        )
    schema = pa.schema(
        [
            ("time", pa.int64()),
            ("type", pa.string()),
            ("k", pa.int64()),
            ("x", pa.int64()),
            ("y", pa.float64()),
            ("n", pa.int64()),
            ("b", pa.bool_()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def cuts(rng: random.Random, size: int) -> list[int]:
    return [rng.randrange(size) for _ in range(rng.randrange(4))]


PATTERNS = (
    ("B+", "B.x {o} NEXT(B).x"),
    ("SEQ(A, B+)", "B.x {o} NEXT(B).x"),
    ("SEQ(A, B+, C)", "B.x {o} NEXT(B).x"),
    ("SEQ(A, B+, C)", "B.y {o} NEXT(B).y AND A.x {p} NEXT(B).x"),
    ("SEQ(A, B+, C)", "B.x {o} NEXT(C).n"),
    ("SEQ(A+, B+)", "A.x {o} NEXT(A).x AND B.x {p} NEXT(B).n AND A.y {o} NEXT(B).y"),
    ("SEQ(A, B)+", "A.x {o} NEXT(B).x"),
    ("SEQ(A, B)+", "B.x {o} NEXT(A).x AND A.y {p} NEXT(B).y"),
    ("SEQ(SEQ(A, B)+, C)+", "B.x {o} NEXT(A).x"),
    ("(A | B)+", "A.x {o} NEXT(B).x AND B.b {p} NEXT(A).b"),
    ("SEQ(A, B*, C)", "NEXT(B).x {o} B.x"),
    ("SEQ(A, B?, C+)", "C.n {o} NEXT(C).x AND B.x {p} NEXT(C).x"),
    ("SEQ(A a, B+, A c)", "B.x {o} NEXT(B).x AND a.x = NEXT(B).x"),
)
RETURNS = (
    "COUNT(*)",
    "COUNT(*), COUNT(B), SUM(B.n), AVG(B.x)",
    "COUNT(*), MIN(B.x), MAX(B.y), SUM(B.y)",
    "k, COUNT(*), MAX(B.n), AVG(B.y)",
    "k, COUNT(*), SUM(B.x)",
)
WINDOWS = ("WITHIN 1000 s", "WITHIN 20 us", "WITHIN 24 us SLIDE 10 us", "WITHIN 12 us SLIDE 3 us")
COUNTED = ("WITHIN 9 events", "WITHIN 10 events SLIDE 3 events")


def query(rng: random.Random, name: str, window: str) -> str:
    pattern, where = rng.choice(PATTERNS)
    where = where.format(o=rng.choice(OPERATORS), p=rng.choice(OPERATORS))
    if rng.random() < 0.3:
        where += rng.choice((" AND B.n > 0", " AND B.n < 7 AND B.y IS NOT NULL"))
    returns = rng.choice(RETURNS)
    grouped = "k" if "k," in returns or "events" in window else ""
    if grouped and "k," not in returns:
        returns = f"k, {returns}"
    key = rng.choice(("[k] AND ", "")) if grouped else rng.choice(("[k] AND ", "[k] AND ", ""))
    group = "GROUP-BY k" if grouped else ""
    return f"QUERY {name} RETURN {returns} PATTERN {pattern} WHERE {key}{where} {group} {window}"


@pytest.mark.parametrize("seed", range(150))
def test_random_queries_alone(seed: int) -> None:
    rng = random.Random(seed)
    text = query(rng, "q", rng.choice(WINDOWS + COUNTED))
    table = stream(rng, 60)
    ties = rng.choice(("strict", "arrival"))
    options: dict[str, Any] = {"ties": ties, "time_unit": "us", "restart": rng.random() < 0.3}
    check(text, table, cuts(rng, 60), **options)


@pytest.mark.parametrize("seed", range(150))
def test_random_queries_together(seed: int) -> None:
    rng = random.Random(1000 + seed)
    window = rng.choice(WINDOWS + COUNTED)
    text = "\n".join(query(rng, f"q{i}", window) for i in range(rng.randrange(2, 7)))
    table = stream(rng, 60)
    options: dict[str, Any] = {"ties": rng.choice(("strict", "arrival")), "time_unit": "us"}
    options["restart"] = rng.random() < 0.3
    check(text, table, cuts(rng, 60), sharing=rng.choice(SHARING), **options)


def kleene_workload(rng: random.Random, operators: tuple[str, ...]) -> str:
    """Queries with one Kleene state in common, and different ways in and out of it."""
    texts = []
    for i in range(rng.randrange(2, 6)):
        before, after = (
            rng.choice(("A, ", "C, ", "A a1, C c1, ", "")),
            rng.choice(("", ", D", ", E")),
        )
        where = f"B.x {rng.choice(operators)} NEXT(B).x"
        if after and rng.random() < 0.3:
            where += f" AND B.x {rng.choice(OPERATORS)} NEXT({after[2:]}).n"
        returns = rng.choice(("COUNT(*)", "COUNT(*), SUM(B.n), AVG(B.y)", "COUNT(B)"))
        pattern = f"SEQ({before}B+{after})" if before or after else "B+"
        texts.append(
            f"QUERY q{i} RETURN {returns} PATTERN {pattern} WHERE [k] AND {where} WITHIN 60 us"
        )
    return "\n".join(texts)


@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("seed", range(60))
def test_a_kleene_state_in_common(seed: int, sharing: str) -> None:
    rng = random.Random(2000 + seed)
    operators = rng.choice((("<",), ("<", "<="), (">", ">=", ">"), OPERATORS))
    text = kleene_workload(rng, operators)
    table = stream(rng, 90, "ABBBBBBBCDE", values=rng.choice((4, 60)))
    check(text, table, cuts(rng, 90), time_unit="us", sharing=sharing, restart=seed % 3 == 0)


RISING = """
    QUERY one RETURN COUNT(*), SUM(B.n) PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x WITHIN 1 day
    QUERY two RETURN COUNT(*), MAX(B.x) PATTERN B+ WHERE B.x <= NEXT(B).x WITHIN 1 day
    QUERY three RETURN COUNT(*), AVG(B.n) PATTERN B+ WHERE B.x <= NEXT(B).x WITHIN 1 day
"""


def rising(size: int) -> pa.Table:
    """An A, then B's whose values grow: every set of B's is a trend."""
    return pa.table(
        {
            "time": np.arange(size + 1),
            "type": ["A"] + ["B"] * size,
            "x": np.arange(size + 1),
            "n": np.full(size + 1, 2),
        }
    )


@pytest.mark.parametrize("sharing", SHARING)
def test_rising_values_equal_the_plain_engine(sharing: str) -> None:
    check(RISING, rising(250), [150], time_unit="us", sharing=sharing)


@pytest.mark.parametrize("sharing", SHARING)
def test_counts_beyond_any_double(sharing: str) -> None:
    size = 100_000
    tables, _ = results(RISING, rising(size), [700], time_unit="us", sharing=sharing)
    for table in tables.values():
        assert table.column("COUNT(*)_log2").to_pylist() == pytest.approx([size], rel=1e-14)
    assert tables["one"].column("SUM(B.n)_log2")[0].as_py() == pytest.approx(
        size + np.log2(size), rel=1e-14
    )
    assert tables["two"].column("MAX(B.x)").to_pylist() == [size]
    assert tables["three"].column("AVG(B.n)").to_pylist() == [2.0]


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">="])
def test_random_keys_of_a_long_window(symbol: str) -> None:
    """Against whole numbers of any size in a Fenwick tree; some counts are above 2**512."""
    size, rng = 40_000, np.random.default_rng(1)
    x = rng.integers(0, 30_000, size)
    table = pa.table({"time": np.arange(size), "type": ["B"] * size, "x": x})
    text = f"RETURN COUNT(*) PATTERN B+ WHERE B.x {symbol} NEXT(B).x WITHIN 1 day"
    tables, _ = results(text, table, [100, 9000], time_unit="us")
    found = tables["q1"].column("COUNT(*)")[0].as_py()
    keys = x if symbol in ("<", "<=") else 30_000 - x
    wanted = subsequences(keys.tolist(), 30_001, strict=symbol in ("<", ">"))
    assert wanted > 2**512
    assert found == pytest.approx(float(wanted), rel=1e-12)


def subsequences(keys: list[int], most: int, *, strict: bool) -> int:
    """How many subsequences of keys rise."""
    sums, total = [0] * (most + 1), 0
    for key in keys:
        count, at = 1, key if strict else key + 1
        while at > 0:
            count += sums[at]
            at -= at & -at
        total += count
        at = key + 1
        while at <= most:
            sums[at] += count
            at += at & -at
    return total


def test_one_lane_for_all_queries_until_they_differ() -> None:
    """Table 5: an event whose predecessors differ becomes a snapshot; the others stay shared."""
    text = """
        QUERY q1 RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x WITHIN 1 day
        QUERY q2 RETURN COUNT(*) PATTERN SEQ(C, B+) WHERE B.x <= NEXT(B).x WITHIN 1 day
    """
    x = [0, 0, 1, 2, 3, 3, 4, 5]
    table = pa.table({"time": range(8), "type": list("ACBBBBBB"), "x": x})
    tables, (run,) = results(text, table, time_unit="us", sharing="always")
    assert tables["q1"].column("COUNT(*)").to_pylist() == [47.0]
    assert tables["q2"].column("COUNT(*)").to_pylist() == [63.0]
    (found,) = run.decisions().types
    # One snapshot x for what enters, one z for the second event with a 3.
    assert (found.shared, found.split, found.merged, found.continued) == (2, 0, 0, 4)
    assert (found.type, found.events, found.snapshots) == ("B", 6, 2)


def test_a_state_splits_and_the_next_window_merges_it() -> None:
    text = """
        QUERY q1 RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x WITHIN 100 us
        QUERY q2 RETURN COUNT(*) PATTERN SEQ(C, B+) WHERE B.x < NEXT(B).x WITHIN 100 us
    """
    types = "ABCBABCB" * 2
    times = [*range(8), *range(100, 108)]
    table = pa.table({"time": times, "type": list(types), "x": list(range(8)) * 2})
    _, (run,) = results(text, table, time_unit="us")
    (found,) = run.decisions().types
    assert (found.split, found.merged) == (2, 1)
    check(text, table, time_unit="us")


def test_memory_is_flat_over_windows() -> None:
    rng = np.random.default_rng(2)
    size = 20_000
    table = pa.table(
        {
            "time": np.arange(size),
            "type": ["B"] * size,
            "k": rng.integers(0, 20, size),
            "x": rng.integers(0, 10**6, size),
        }
    )
    text = "RETURN COUNT(*) PATTERN B+ WHERE [k] AND B.x < NEXT(B).x WITHIN 1000 us"
    _, (run,) = results(text, table, list(range(0, size, 1000)), time_unit="us")
    assert len(run._state.rows) <= 64
    assert run._pool.used[0] < 60_000


@pytest.mark.parametrize("window", ["WITHIN 20 us SLIDE 10 us", "WITHIN 8 events"])
def test_a_run_that_joins_late(window: str) -> None:
    """It reports windows of time that start later, and counts events only from then on."""
    rng = random.Random(4)
    table = stream(rng, 80)
    text = (
        f"RETURN k, COUNT(*), SUM(B.n) PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x GROUP-BY k {window}"
    )
    late, _ = results(text, table, [30], time_unit="us", since=40)
    if "events" in window:
        table = table.filter(pc.greater_equal(table.column("time"), 40))
    whole, _ = results(text, table, time_unit="us")
    wanted = whole["q1"]
    if "events" not in window:
        wanted = wanted.filter(pc.greater_equal(wanted.column("window_start"), 40))
    assert wanted.num_rows > 2
    assert late["q1"].equals(wanted)


def test_a_removed_query_is_not_reported() -> None:
    text = "\n".join(
        f"QUERY q{i} RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x WITHIN 1 s"
        for i in range(2)
    )
    table = pa.table({"time": range(4), "type": list("ABBB"), "x": range(4)})
    engine = Engine(text, numeric="exact", time_unit="us")
    events = engine.prepare(table)
    together = Together(list(engine.workload), {field.name: field.type for field in events.schema})
    together.process(events)
    node = OperatorNode("range_index", tuple(engine.workload), (None, None))
    together.run.update(replace(node, retired=frozenset({"q0"})))
    assert together.run.statistics().open_windows == 1
    assert [closed.query for closed in together.run.close_windows(2**63)] == ["q1"]
