"""Cases that random tests found, made small."""

import pyarrow as pa
import pytest

from engine.lives import Tables
from engine.streams import stream
from runtime.pipeline.engine import Engine, aggregate

SECOND = 1_000_000


def as_doubles(table: pa.Table) -> list[dict]:
    return [{name: float(value) for name, value in row.items()} for row in table.to_pylist()]


def test_an_event_in_a_pane_that_the_watermark_opened_keeps_its_partition() -> None:
    engine = Engine("QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 12 s SLIDE 4 s")
    tables = Tables()
    for text, watermarks in (("b3 a4", [4]), ("b10", [10, 14])):
        tables.collect(engine.process(stream(text)))
        for watermark in watermarks:
            tables.collect(engine.advance(watermark * SECOND))
    tables.collect(engine.finish())
    found = [(row["window_start"], row["n"]) for row in tables.joined()["q"].to_pylist()]
    assert found == [(0, 1.0), (4, 1.0)]


@pytest.mark.parametrize("function", ["SUM", "AVG", "MIN", "MAX"])
@pytest.mark.parametrize("count", [4, 5, 16, 17, 40])
def test_any_number_of_aggregates(function: str, count: int) -> None:
    """With COUNT(A) an odd number of sums."""
    values = {f"x{k}": [10 * k + i for i in range(6)] for k in range(count)}
    table = pa.table({"time": list(range(6)), "type": ["A"] * 6, **values})
    outputs = ", ".join(f"{function}(A.{name}) AS v_{name}" for name in values)
    query = f"QUERY q RETURN COUNT(*), COUNT(A), {outputs} PATTERN A+ WITHIN 4 s SLIDE 2 s"
    exact = aggregate(query, table, numeric="exact")["q"]
    assert as_doubles(aggregate(query, table)["q"]) == as_doubles(exact)


@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_an_event_that_can_be_two_things_after_some_trends_and_one_after_others(
    numeric: str,
) -> None:
    """The last one ends trends after the second event, and only prolongs those after the first."""
    table = pa.table({"time": range(4), "type": ["A"] * 4, "s": ["b", "a", "b", "b"]})
    pattern = "PATTERN SEQ(A a1+, A a2) WHERE a1.s < NEXT(a2).s"
    query = f"QUERY q RETURN COUNT(*) AS n {pattern} WITHIN 9 s"
    assert as_doubles(aggregate(query, table, numeric=numeric)["q"].select(["n"])) == [{"n": 4.0}]
