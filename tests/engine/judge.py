"""Puts a random case through the engine and holds the outcome against the enumerator."""

from fractions import Fraction
from typing import Any

import pyarrow as pa

from oracle.enumerator import AmbiguousBinding, enumerate_query
from oracle.model import Query, query_names
from oracle.random_cases import Case
from runtime.errors import WorkloadError

ARROW = {"int": pa.int64(), "double": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


def table_of(case: Case) -> pa.Table:
    columns = {
        name: pa.array([event.attributes[name] for event in case.events], ARROW[kind])
        for name, kind in case.columns.items()
    }
    times = pa.array([event.time for event in case.events], pa.int64())
    types = pa.array([event.type for event in case.events], pa.string())
    return pa.table({"time": times, "type": types, **columns})


def refused_with_reason(error: WorkloadError) -> bool:
    """The one refusal that a random case may meet: an aggregate by an alias that is not unique."""
    return all("is not unique: a trend of" in each.message for each in error.errors)


def expected(case: Case) -> dict[str, dict[Any, dict[str, Any]]]:
    """What the enumerator says, in the form in which exact results leave the engine."""
    names = query_names(case.queries)
    return {
        name: {
            (start, end, group): {
                column: _leaving(query, case, column, value) for column, value in row.items()
            }
            for (start, end, group), row in enumerate_query(query, case.events, case.ties).items()
        }
        for name, query in zip(names, case.queries, strict=True)
    }


def _leaving(query: Query, case: Case, column: str, value: Any) -> Any:
    aggregate = next(a for a in query.aggregates if a.column == column)
    if value is None or aggregate.function in ("MIN", "MAX"):
        return value
    whole = aggregate.function == "SUM" and case.columns[aggregate.attribute] == "int"
    if aggregate.function == "COUNT" or whole:
        return str(value)
    return float(Fraction(value))


def found(query: Query, table: pa.Table) -> dict[Any, dict[str, Any]]:
    """A result table in the enumerator's form. Every row must be there once."""
    groups = query.group_columns
    rows = {}
    for row in table.to_pylist():
        group = tuple(row.pop(name) for name in groups)
        key = (row.pop("window_start"), row.pop("window_end"), group)
        assert key not in rows, f"two rows for {key}"
        rows[key] = row
    return rows


def judge(case: Case, results: dict[str, pa.Table]) -> None:
    try:
        wanted = expected(case)
    except AmbiguousBinding as error:
        raise AssertionError(f"the engine took an ambiguous binding: {error}") from error
    for name, query in zip(query_names(case.queries), case.queries, strict=True):
        table = results.get(name)
        got = found(query, table) if table is not None else {}
        assert got == wanted[name], f"query {name}\n{case.text}"
