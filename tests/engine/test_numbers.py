"""Numbers at any magnitude: exact as text, doubles rounded once, infinity with its logarithm."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.execution.rationals import (
    FRACTION_BITS,
    as_double,
    decimal_text,
    log2,
    rational,
    whole,
)
from runtime.pipeline.engine import aggregate

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def many(n: int, x: list | None = None) -> pa.Table:
    columns = {"time": list(range(n)), "type": ["A"] * n}
    return pa.table(columns | ({"x": x} if x is not None else {}))


def only(query: str, table: pa.Table, **options: str) -> dict:
    (result,) = aggregate(query, table, **options).values()
    (row,) = result.to_pylist()
    return row


@given(FINITE)
def test_a_double_is_a_whole_number_of_the_smallest_double(value: float) -> None:
    assert Fraction(whole(value), 1 << FRACTION_BITS) == Fraction(value)


@given(st.lists(FINITE, min_size=1, max_size=8))
def test_sums_of_doubles_do_not_round(values: list[float]) -> None:
    total = sum(map(whole, values))
    assert rational(total, 1) == sum(map(Fraction, values))


def test_beyond_a_double_there_is_infinity_and_a_logarithm() -> None:
    assert as_double(10**400) == math.inf
    assert as_double(-(10**400)) == -math.inf
    assert log2(10**400) == pytest.approx(400 * math.log2(10), rel=1e-15)
    assert len(decimal_text(10**5000)) == 5001


def test_counts_beyond_2_to_the_53_are_exact_as_text() -> None:
    row = only("RETURN COUNT(*) PATTERN A+ WITHIN 1 day", many(2_000), numeric="exact")
    assert int(row["COUNT(*)"]) == 2**2000 - 1


def test_counts_of_more_digits_than_python_likes() -> None:
    row = only("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 day", many(15_000), numeric="exact")
    assert row["n"] == decimal_text(2**15_000 - 1)
    assert len(row["n"]) > 4_300


def test_float_counts_are_whole_up_to_2_to_the_53_and_infinite_beyond_range() -> None:
    query = "RETURN COUNT(*) AS n, AVG(A.x) AS mean PATTERN A+ WITHIN 1 day"
    assert only(query, many(53, [1] * 53))["n"] == 2.0**53 - 1
    row = only(query, many(2_000, [1] * 2_000))
    assert row["n"] == math.inf
    assert row["n_log2"] == pytest.approx(2_000)
    assert row["mean"] == 1.0  # an average is a quotient of the exact numbers


def test_no_logarithm_where_none_is_needed() -> None:
    assert "n_log2" not in only("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 day", many(50))


def test_sums_of_integers_are_text_and_sums_of_doubles_are_rounded_once() -> None:
    query = "RETURN SUM(A.x) AS total PATTERN A WITHIN 1 day"
    assert only(query, many(3, [2**62, 2**62, 1]), numeric="exact")["total"] == str(2**63 + 1)
    assert only(query, many(3, [1e16, 1.0, -1e16]), numeric="exact")["total"] == 1.0
    tenths = only(query, many(10, [0.1] * 10), numeric="exact")
    assert tenths["total"] == float(10 * Fraction(0.1))


@pytest.mark.parametrize("value", [0, 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("where", ["", "WHERE A.x <= NEXT(A).x", "WHERE LENGTH >= 2"])
@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_extremes_of_unsigned_numbers(value: int, where: str, numeric: str) -> None:
    columns = {"x": pa.array([value] * 3, pa.uint64()), "y": pa.nulls(3, pa.uint64())}
    table = pa.table({"time": [1, 2, 3], "type": ["A"] * 3, **columns})
    outputs = "MIN(A.x) AS low, MAX(A.x) AS high, MIN(A.y) AS none, MAX(A.y) AS neither"
    query = f"QUERY q RETURN {outputs} PATTERN A+ {where} WITHIN 9 s"
    row = aggregate(query, table, numeric=numeric)["q"].to_pylist()[0]
    assert (row["low"], row["high"]) == (value, value)
    assert (row["none"], row["neither"]) == (None, None)
