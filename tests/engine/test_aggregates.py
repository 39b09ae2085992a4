"""What the declarations of aggregate functions promise to those that read them."""

import math
from typing import Any

import pytest

from engine.streams import rows, stream
from runtime.execution.finalize import FINALIZERS
from runtime.language.aggregates import AGGREGATES, Argument, LaneInput, ResultKind
from runtime.language.parser import parse
from runtime.pipeline.engine import aggregate

WINDOW = "WITHIN 1 day"


def bounds() -> dict[str, Any]:
    return {"window_start": 0, "window_end": 86_400}


def written(name: str) -> str:
    return f"{name}(A.x)" if AGGREGATES[name].argument is Argument.ATTRIBUTE else f"{name}(A)"


def test_every_function_that_computes_numbers_says_how():
    computed = {f.name for f in AGGREGATES.values() if f.result is not ResultKind.ATTRIBUTE}
    assert set(FINALIZERS) == computed


@pytest.mark.parametrize("name", AGGREGATES)
def test_a_query_has_the_lanes_that_its_function_declares(name: str):
    (query,) = parse(f"RETURN {written(name)} PATTERN A+ WITHIN 1 s")
    attribute = "x" if AGGREGATES[name].argument is Argument.ATTRIBUTE else None
    assert [(lane.fold, lane.input) for lane in query.lanes] == [
        (fold, LaneInput(attribute, power)) for fold, power in AGGREGATES[name].lanes
    ]


@pytest.mark.parametrize("numeric", ["float", "exact"])
@pytest.mark.parametrize("name", AGGREGATES)
def test_a_result_without_rows_has_the_same_columns(name: str, numeric: str):
    table = stream("a1 a2", x=[1.5, 2.5])
    schemas = []
    for least in (0, 9):
        query = f"RETURN {written(name)} AS v PATTERN A+ HAVING COUNT(*) > {least} WITHIN 9 s"
        (result,) = aggregate(query, table, numeric=numeric).values()
        schemas.append((result.num_rows > 0, result.schema))
    assert schemas == [(True, schemas[0][1]), (False, schemas[0][1])]


# ---- variance and standard deviation -----------------------------------------------------------


@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_variance_of_the_values_in_all_trends(numeric: str):
    query = f"RETURN VARIANCE(A.x) AS v, STDDEV(A.x) AS s PATTERN A+ {WINDOW}"
    assert rows(query, stream("a1 a2", x=[0.0, 3.0]), numeric=numeric) == [
        {**bounds(), "v": 2.25, "s": 1.5}
    ]


@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_variance_of_nothing_is_null(numeric: str):
    query = f"RETURN VARIANCE(B.x) AS v, STDDEV(B.x) AS s PATTERN SEQ(A, B?) {WINDOW}"
    table = stream("a1 b2", x=[1.0, None])
    assert rows(query, table, numeric=numeric) == [{**bounds(), "v": None, "s": None}]


def test_having_sees_the_exact_variance():
    query = f"RETURN VARIANCE(A.x) AS v PATTERN A HAVING v * 9 = 2 AND STDDEV(A.x) > 0.47 {WINDOW}"
    table = stream("a1 a2 a3", x=[0, 0, 1])
    assert rows(query, table, numeric="exact") == [{**bounds(), "v": 2 / 9}]


def test_a_variance_beyond_doubles_has_its_logarithm():
    query = f"RETURN VARIANCE(A.x) AS v, STDDEV(A.x) AS s PATTERN A {WINDOW}"
    table = stream("a1 a2", x=[-(2.0**600), 2.0**600])
    assert rows(query, table, numeric="exact") == [
        {**bounds(), "v": math.inf, "v_log2": 1200.0, "s": 2.0**600}
    ]


def test_squares_that_are_too_large_are_not_infinite():
    """An infinity would never leave the kernels."""
    query = f"RETURN VARIANCE(A.x) AS v PATTERN A+ {WINDOW}"
    (row,) = rows(query, stream("a1 a2 a3", x=[-1e300, 1e300, 1e300]))
    assert 0 <= row["v"] <= 2.0**960


def test_a_variance_of_close_values_far_from_zero_is_not_negative():
    query = f"RETURN VARIANCE(A.x) AS v, STDDEV(A.x) AS s PATTERN A+ {WINDOW}"
    (row,) = rows(query, stream("a1 a2 a3", x=[1e9 + 0.1, 1e9 + 0.1, 1e9 + 0.1]))
    assert 0 <= row["v"] < 1e9**2 * 1e-15
    assert row["s"] == math.sqrt(row["v"])


@pytest.mark.parametrize("events", [60, 3000])
def test_variance_of_more_trends_than_doubles_count(events: int):
    """Each value is in half of the trends, so the variance is that of the values themselves."""
    query = f"RETURN VARIANCE(A.x) AS v, STDDEV(A.x) AS s PATTERN A+ {WINDOW}"
    times = range(events)
    table = stream(" ".join(f"a{t}" for t in times), x=[float(t % 2) for t in times])
    for numeric in ("float", "exact"):
        (row,) = rows(query, table, numeric=numeric)
        assert row["v"] == pytest.approx(0.25, rel=1e-12)
        assert row["s"] == pytest.approx(0.5, rel=1e-12)
