"""Comparisons of attributes of different kinds: refused before the first event, by both engines
alike, or false where the kind is only seen in the middle of the stream."""

import pyarrow as pa
import pytest

from runtime.errors import WorkloadError
from runtime.pipeline.engine import Engine, aggregate
from runtime.pipeline.settings import NUMERIC

COLUMNS = {
    "text": pa.array(["a", "b", "c"]),
    "number": pa.array([3, 1, 2]),
    "truth": pa.array([True, False, True]),
    "bytes": pa.array([b"x", b"y", b"z"]),
    "fixed": pa.array([b"x", b"y", b"z"], pa.binary(1)),
    "second": pa.array([1, 2, 3], pa.timestamp("s")),
    "milli": pa.array([1, 2, 3], pa.timestamp("ms")),
    "zoned": pa.array([1, 2, 3], pa.timestamp("ms", "UTC")),
    "nothing": pa.nulls(3),
}


def events(first: int = 0, **columns: pa.Array) -> pa.Table:
    return pa.table({"time": list(range(first, first + 3)), "type": ["A"] * 3, **columns})


def query(where: str) -> str:
    return f"QUERY q RETURN COUNT(*) AS n PATTERN A+ WHERE {where} WITHIN 100 s"


def counts(where: str, numeric: str, *batches: pa.Table) -> list[int]:
    engine = Engine(query(where), numeric=numeric)
    for batch in batches:
        engine.process(batch)
    return [int(n) for table in engine.finish().values() for n in table["n"].to_pylist()]


@pytest.mark.parametrize("numeric", NUMERIC)
@pytest.mark.parametrize(
    "where",
    [
        "A.text < A.number",
        "A.text = NEXT(A).number",
        "A.number > 1 OR NOT A.truth != A.number",
        "A.number BETWEEN A.number AND A.text",
        "A.bytes != A.text",
        "A.second < NEXT(A).milli",
        "A.milli < NEXT(A).zoned",
        "A.milli < A.number",
    ],
)
def test_different_kinds_are_refused_before_anything_runs(where: str, numeric: str) -> None:
    engine = Engine(query(where), numeric=numeric)
    with pytest.raises(WorkloadError, match="compares `"):
        engine.bind(events(**COLUMNS).schema)


@pytest.mark.parametrize("numeric", NUMERIC)
def test_a_query_that_joins_is_held_against_the_columns_too(numeric: str) -> None:
    engine = Engine(query("A.number > 0"), numeric=numeric)
    engine.process(events(**COLUMNS))
    with pytest.raises(WorkloadError, match="compares `text`"):
        engine.add(query("A.text < A.number").replace("QUERY q", "QUERY r"))


@pytest.mark.parametrize("numeric", NUMERIC)
@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("A.fixed < NEXT(A).fixed", 7),
        ("A.bytes <= A.fixed", 7),
        ("A.milli < NEXT(A).milli", 7),
        ("A.text < NEXT(A).nothing", 3),
        ("A.number = A.nothing OR A.number > 1", 3),
    ],
)
def test_one_kind_is_compared(where: str, wanted: int, numeric: str) -> None:
    assert counts(where, numeric, events(**COLUMNS)) == [wanted]


@pytest.mark.parametrize("name", ["text", "number", "truth"])
@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("A.late < A.number", []),
        ("A.late != A.number", [7]),
        ("NOT A.late >= A.number", [7]),
        ("A.late BETWEEN A.number AND A.number", []),
        ("A.late < NEXT(A).number", [6]),
        ("A.late >= NEXT(A).number OR NEXT(A).number > 2", [9]),
    ],
)
def test_a_kind_that_is_seen_late_stops_no_engine(where: str, wanted: list[int], name: str) -> None:
    """A column of nulls is taken for text when nothing else is known of it."""
    number = COLUMNS["number"]
    batches = events(late=pa.nulls(3), number=number), events(3, late=COLUMNS[name], number=number)
    assert [counts(where, numeric, *batches) for numeric in NUMERIC] == [wanted, wanted]


@pytest.mark.parametrize("numeric", NUMERIC)
def test_a_group_is_compared_with_its_own_kind(numeric: str) -> None:
    having = "QUERY q RETURN text, number, COUNT(*) AS n PATTERN A+ GROUP-BY text, number HAVING {}"
    with pytest.raises(WorkloadError, match="compares `text`"):
        aggregate(having.format("text < n WITHIN 9 s"), events(**COLUMNS), numeric=numeric)
    table = aggregate(having.format("number > n WITHIN 9 s"), events(**COLUMNS), numeric=numeric)
    assert table["q"]["text"].to_pylist() == ["a", "c"]


@pytest.mark.parametrize("numeric", NUMERIC)
def test_an_interval_is_no_value_to_compare_or_group_by(numeric: str) -> None:
    interval = pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval())
    for where in ("A.x = A.x", "[x]"):
        with pytest.raises(WorkloadError, match="single value"):
            Engine(query(where), numeric=numeric).process(events(x=interval))
