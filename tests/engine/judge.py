"""Puts a random case through the engine and holds the outcome against the enumerator."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import pyarrow as pa

from oracle.enumerator import AmbiguousBinding, enumerate_query
from oracle.model import Aggregate, Query, query_names
from oracle.random_cases import Case
from runtime.errors import WorkloadError
from runtime.language.parser import parse
from runtime.language.query import Workload

#: Every way to run: the exact engine, and the compiled one at each setting of sharing.
EXACT = {"numeric": "exact"}
SHARING = tuple({"numeric": "float", "sharing": each} for each in ("dynamic", "always", "never"))
ENGINES = (EXACT, *SHARING)

#: A query's rows, by window and group.
Rows: TypeAlias = dict[Any, dict[str, Any]]

ARROW = {"int": pa.int64(), "double": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


def table_of(case: Case) -> pa.Table:
    columns = {
        name: pa.array([event.attributes[name] for event in case.events], ARROW[kind])
        for name, kind in case.columns.items()
    }
    times = pa.array([event.time for event in case.events], pa.int64())
    types = pa.array([event.type for event in case.events], pa.string())
    return pa.table({"time": times, "type": types, **columns})


def settings_of(case: Case, engine: Mapping[str, str]) -> dict[str, str]:
    return {**engine, "ties": case.ties, "time_unit": "us"}


@lru_cache(maxsize=16)
def parsed(text: str) -> Workload:
    """Parsing takes longer than a small stream, and every engine gets the same text."""
    return parse(text)


def refused_with_reason(error: WorkloadError) -> bool:
    """The one refusal that a random case may meet: an aggregate by an alias that is not unique."""
    return all("is not unique: a trend of" in each.message for each in error.errors)


def expected(case: Case) -> dict[str, Rows]:
    """What the enumerator says, by query."""
    names = query_names(case.queries)
    try:
        return {
            name: enumerate_query(query, case.events, case.ties)
            for name, query in zip(names, case.queries, strict=True)
        }
    except AmbiguousBinding as error:
        raise AssertionError(f"the engine took an ambiguous binding: {error}") from error


def leaving(query: Query, columns: Mapping[str, str], rows: Rows, numeric: str) -> Rows:
    """Numbers of the enumerator in the form in which they leave the engine."""
    aggregates = {aggregate.column: aggregate for aggregate in query.aggregates}
    return {
        key: {
            name: _number(aggregates[name], columns, value, numeric) for name, value in row.items()
        }
        for key, row in rows.items()
    }


def _number(aggregate: Aggregate, columns: Mapping[str, str], value: Any, numeric: str) -> Any:
    if value is None or aggregate.function in ("MIN", "MAX"):
        return value
    whole = aggregate.function == "SUM" and columns[aggregate.attribute] == "int"
    if numeric == "exact" and (aggregate.function == "COUNT" or whole):
        return str(value)
    # The values of random events are halves, and counts are small: doubles hold every count and
    # sum, and averages, variances and deviations are rounded once. So they must be equal to the
    # last bit.
    return float(Fraction(value))


def found(query: Query, table: pa.Table | None) -> Rows:
    """A result table in the enumerator's form. Every row must be there once."""
    groups = query.group_columns
    rows: Rows = {}
    for row in table.to_pylist() if table is not None else ():
        group = tuple(row.pop(name) for name in groups)
        key = (row.pop("window_start"), row.pop("window_end"), group)
        assert key not in rows, f"two rows for {key}"
        rows[key] = row
    return rows


def judge(
    case: Case, results: Mapping[str, pa.Table], wanted: dict[str, Rows], engine: Mapping[str, str]
) -> None:
    for name, query in zip(query_names(case.queries), case.queries, strict=True):
        right = leaving(query, case.columns, wanted[name], engine["numeric"])
        assert found(query, results.get(name)) == right, f"{engine}: query {name}\n{case.text}"


def as_doubles(query: Query, table: pa.Table | None) -> Rows:
    """Rows with numbers as doubles, whether they left as text or not: where the exact engine is
    the judge of the compiled one."""
    measures = [a.column for a in query.aggregates if a.function not in ("MIN", "MAX")]
    rows = found(query, table)
    for row in rows.values():
        for name in measures:
            row[name] = None if row[name] is None else float(row[name])
    return rows
