"""Streams far beyond what can be enumerated: doubles against whole numbers of any size.

A count of 2^1,000,000 has no place in a double, so what leaves is infinity with a logarithm, and
an average, which is a quotient of two such numbers.
"""

import math
import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from runtime.pipeline.engine import Engine, aggregate

CLOSE = 1e-9
MODES = ("dynamic", "always", "never")
DAY = "WITHIN 1 day"


def events(types: str | list[str], x: list[Any] | None = None, step: int = 1) -> pa.Table:
    """One event every `step` milliseconds."""
    columns = {"time": pa.array(range(0, len(types) * step, step), pa.timestamp("ms"))}
    table = pa.table({**columns, "type": list(types)})
    return table if x is None else table.append_column("x", pa.array(x))


def rows(query: str, table: pa.Table, **options: str) -> list[dict[str, Any]]:
    (result,) = aggregate(query, table, **options).values()
    return result.to_pylist()


def only(query: str, table: pa.Table, **options: str) -> dict[str, Any]:
    (row,) = rows(query, table, **options)
    return row


def log2_of(row: dict[str, Any], name: str) -> float:
    """Of a number of any size, as it leaves with doubles."""
    logarithm = row.get(f"{name}_log2")
    return math.log2(abs(row[name])) if logarithm is None else logarithm


def log2_of_text(digits: str) -> float:
    """Of a whole number of any size; the first 30 digits say enough."""
    digits = digits.removeprefix("-")
    return math.log2(int(digits[:30])) + max(0, len(digits) - 30) * math.log2(10)


def same(float_row: dict[str, Any], exact_row: dict[str, Any], *names: str) -> None:
    """Numbers within 1e-9, relative; where only logarithms are left, 1e-9 of the number is about
    1.4e-9 of the logarithm, absolute, and the logarithm itself is a double."""
    for name in names:
        found, wanted = float_row[name], exact_row[name]
        if wanted is None or not isinstance(wanted, str):
            assert found == (None if wanted is None else pytest.approx(wanted, rel=CLOSE)), name
        elif math.isinf(found):
            assert (found < 0) == wanted.startswith("-"), name
            logarithm = log2_of_text(wanted)
            assert log2_of(float_row, name) == pytest.approx(logarithm, rel=1e-15, abs=2e-9), name
        else:
            assert found == pytest.approx(float(wanted), rel=CLOSE), name


def mixed(n: int, seed: int) -> list[float]:
    rng = random.Random(seed)
    return [rng.choice((-1, 1)) * rng.randint(1, 1000) / 8 for _ in range(n)]


# ---- one burst, any length -----------------------------------------------------------------


@pytest.mark.parametrize("sharing", MODES)
@pytest.mark.parametrize("n", [53, 54, 1_023, 1_024, 1_025, 100_000, 1_100_000])
def test_a_plus_over_n_events_has_2_to_the_n_trends_less_one(n: int, sharing: str) -> None:
    row = only(f"RETURN COUNT(*) AS n PATTERN A+ {DAY}", events("A" * n), sharing=sharing)
    if n <= 1_023:
        assert row["n"] == pytest.approx(2.0**n - 1, rel=1e-15)
        assert "n_log2" not in row
    else:
        assert row["n"] == math.inf
        assert row["n_log2"] == pytest.approx(n, rel=1e-15)


def test_aggregates_over_a_million_events_have_a_closed_form() -> None:
    """Every event is in 2^(n-1) of the 2^n - 1 trends: the average is that of the values."""
    n = 1_100_000
    eighths = [(k % 97) * (1 - 2 * (k % 2)) for k in range(n)]
    x = [k / 8 for k in eighths]
    query = f"RETURN AVG(A.x) AS mean, MIN(A.x) AS low, MAX(A.x) AS high PATTERN A+ {DAY}"
    row = only(query, events("A" * n, x))
    assert row["mean"] == pytest.approx(sum(eighths) / 8 / n, rel=CLOSE)
    assert (row["low"], row["high"]) == (min(x), max(x))


def test_two_alternating_types_over_a_million_events() -> None:
    """`(SEQ(P, T))+` over PTPT...: m pairs have F(2m+1) - 1 trends, with Fibonacci's numbers."""
    pairs = 720_000  # log2 of the golden ratio is 0.69: beyond 2^999,000
    query = f"RETURN COUNT(*) AS n, COUNT(P) AS p, COUNT(T) AS t PATTERN (SEQ(P, T))+ {DAY}"
    row = only(query, events("PT" * pairs))
    golden = (1 + math.sqrt(5)) / 2
    wanted = (2 * pairs + 1) * math.log2(golden) - math.log2(5) / 2
    assert row["n_log2"] == pytest.approx(wanted, rel=1e-13)
    assert row["p_log2"] == row["t_log2"] > row["n_log2"]


# ---- against the exact engine --------------------------------------------------------------

AGGREGATES = (
    "COUNT(*) AS n, COUNT(B) AS b, SUM(B.x) AS s, AVG(B.x) AS m, MIN(B.x) AS l, MAX(B.x) AS h"
)
NAMES = ("n", "b", "s", "m", "l", "h")


def whole_values(n: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randint(-1_000, 1_000) for _ in range(n)]


@pytest.mark.parametrize("sharing", MODES)
def test_sums_with_mixed_signs(sharing: str) -> None:
    n = 3_000
    table = events("A" + "B" * n + "E", [0, *whole_values(n, 1), 0])
    query = f"RETURN {AGGREGATES} PATTERN SEQ(A, B+, E) {DAY}"
    same(only(query, table, sharing=sharing), only(query, table, numeric="exact"), *NAMES)


@pytest.mark.parametrize("sharing", MODES)
def test_bursts_of_changing_types_in_sliding_windows(sharing: str) -> None:
    rng = random.Random(2)
    types: list[str] = []
    while len(types) < 6_000:
        types += [rng.choice("ABBBE")] * rng.choice((1, 2, 30, 120))
    table = events(types, whole_values(len(types), 3))
    query = f"RETURN {AGGREGATES} PATTERN SEQ(A, B+, E) WITHIN 3 seconds SLIDE 500 ms"
    found, wanted = rows(query, table, sharing=sharing), rows(query, table, numeric="exact")
    assert len(found) == len(wanted) > 10
    for one, other in zip(found, wanted, strict=True):
        assert one["window_start"] == other["window_start"]
        same(one, other, *NAMES)
    assert any(math.isinf(row["n"]) for row in found)


def test_queries_that_share_and_differ_on_few_events() -> None:
    rng = random.Random(5)
    types = [t for _ in range(20) for t in (rng.choice("AC"), *"B" * 60, rng.choice("DE"))]
    table = events(types, whole_values(len(types), 6))
    text = "\n".join(
        f"QUERY q{n} RETURN {AGGREGATES} PATTERN SEQ({head}, B+, {tail}) "
        f"WHERE B.x > {bound} WITHIN {within} SLIDE 500 ms"
        for n, (head, tail, bound, within) in enumerate(
            (head, tail, bound, within)
            for head in "AC"
            for tail in "DE"
            for bound in (-2_000, -990)
            for within in ("1 second", "2 seconds")
        )
    )
    exact = aggregate(text, table, numeric="exact")
    for sharing in MODES:
        found = aggregate(text, table, sharing=sharing)
        for name, wanted in exact.items():
            for one, other in zip(found[name].to_pylist(), wanted.to_pylist(), strict=True):
                same(one, other, *NAMES)


def test_after_a_negation_has_cleared_large_counts() -> None:
    """A C ends what the A's before it could become: counts fall from 2^5,000 to nothing."""
    types = "A" * 5_000 + "B" + "C" + "A" * 3 + "B" + "A" * 1_500 + "C" + "B" + "A" * 2 + "B"
    table = events(types, whole_values(len(types), 8))
    query = "RETURN COUNT(*) AS n, SUM(A.x) AS s, AVG(A.x) AS m PATTERN {} WITHIN 1 day"
    for pattern in ("SEQ(A+, NOT C, B)", "SEQ(A+, NOT C, B+)", "SEQ(NOT C, A+, B)"):
        text = query.format(pattern)
        same(only(text, table), only(text, table, numeric="exact"), "n", "s", "m")


def test_small_counts_after_large_ones_were_cleared_are_exact() -> None:
    """Window by window, and inside a window: nothing of 2^5,000 is left in what follows."""
    table = events("A" + "B" * 5_000 + "C" + "B" * 3 + "E")
    row = only(f"RETURN COUNT(*) AS n PATTERN SEQ(A, SEQ(B, NOT C)+, E) {DAY}", table)
    assert (row["n"], row.get("n_log2")) == (7.0, None)
    table = events("A" * 5_000 + "B" + "Z" * 5_000 + "A" * 3 + "B")
    last = rows("RETURN COUNT(*) AS n PATTERN SEQ(A+, B) WITHIN 5 seconds", table)[-1]
    assert (last["n"], last.get("n_log2")) == (7.0, None)


@pytest.mark.parametrize("semantics", ["skip-till-next-match", "contiguous"])
def test_other_semantics_stay_small(semantics: str) -> None:
    table = events("A" + "B" * 5_000, whole_values(5_001, 9))
    query = f"RETURN {AGGREGATES} PATTERN SEQ(A, B+) SEMANTICS {semantics} {DAY}"
    same(only(query, table), only(query, table, numeric="exact"), *NAMES)


@pytest.mark.parametrize(
    "condition", ["B.x < NEXT(B).x", "B.x != NEXT(B).x", "B.x + NEXT(B).x > 0"]
)
def test_adjacent_conditions(condition: str) -> None:
    n = 300
    table = events("A" + "B" * n, [0, *whole_values(n, 10)])
    query = f"RETURN {AGGREGATES} PATTERN SEQ(A, B+) WHERE {condition} {DAY}"
    same(only(query, table), only(query, table, numeric="exact"), *NAMES)


def test_sums_of_doubles_with_mixed_signs_err_by_the_sum_of_what_is_added() -> None:
    """Of 2^2,000 trends; the error is measured by the sum of absolute values, since contributions
    may cancel out."""
    x = mixed(2_000, 11)
    table = events("A" * 2_000, x)
    row = only(f"RETURN AVG(A.x) AS m PATTERN A+ {DAY}", table)
    absolute = sum(map(abs, x)) / len(x)
    assert row["m"] == pytest.approx(float(sum(map(Fraction, x)) / len(x)), abs=CLOSE * absolute)


def test_logarithms_stand_only_where_they_are_needed() -> None:
    table = events("A" * 900 + "Z" * 100 + "A" * 10_000)
    found = rows(
        "RETURN COUNT(*) AS n, MIN(A.x) AS low PATTERN A+ WITHIN 1 second",
        table.append_column("x", pa.array([1.5] * table.num_rows)),
    )
    assert [math.isinf(row["n"]) for row in found] == [False] + [False] * 10
    longer = rows("RETURN COUNT(*) AS n PATTERN A+ WITHIN 2 seconds", table)
    assert [row["n_log2"] is None for row in longer] == [math.isfinite(row["n"]) for row in longer]
    assert {row["n_log2"] for row in longer} >= {2_000.0}


def test_large_counts_survive_a_checkpoint() -> None:
    query = f"QUERY q RETURN COUNT(*) AS n, AVG(A.x) AS m PATTERN A+ {DAY}"
    table = events("A" * 4_000, whole_values(4_000, 12))
    engine = Engine(query)
    engine.process(table.slice(0, 2_500))
    engine.advance(2_500_000)
    again = Engine(query)
    again.restore(engine.checkpoint())
    again.process(table.slice(2_500))
    assert again.finish()["q"].to_pylist() == aggregate(query, table)["q"].to_pylist()
