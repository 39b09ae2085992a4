"""Compares the answers of two systems."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from benchmarks.baselines.system import Answers
from runtime.language.query import Query, Workload


def different(workload: Workload, found: Answers, wanted: Answers) -> str | None:
    """The first difference, in words. Counts below 2^53 are equal; sums and averages, which depend
    on the order of adding up even where they come out whole, may differ by 1e-9. What is beyond a
    double on either side is not compared."""
    for query in workload:
        rounded = {
            column.name
            for column in query.columns
            if column.measure is not None
            and query.measures[column.measure].function.name in ("SUM", "AVG")
        }
        rows, right = _rows(query, found.get(query.name)), _rows(query, wanted.get(query.name))
        if rows.keys() != right.keys():
            gone, more = len(right.keys() - rows.keys()), len(rows.keys() - right.keys())
            return f"query {query.name}: {gone} rows are missing, {more} should not be there"
        for key, row in rows.items():
            for name, value in row.items():
                if not _alike(value, right[key][name], name in rounded):
                    return f"query {query.name}, {key}: {name} is {value}, not {right[key][name]}"
    return None


def _rows(query: Query, table: pa.Table | None) -> dict[tuple[Any, ...], dict[str, Any]]:
    groups = [column.name for column in query.columns if column.group is not None]
    measures = [column.name for column in query.columns if column.measure is not None]
    if table is None:
        return {}
    return {
        (row["window_start"], *(row[name] for name in groups)): {
            name: row[name] for name in measures
        }
        for row in table.to_pylist()
    }


def _alike(value: Any, wanted: Any, rounded: bool) -> bool:
    if value is None or wanted is None:
        return value is wanted
    if not (math.isfinite(value) and math.isfinite(wanted)):
        return True
    if not rounded and abs(wanted) < 2**53:
        return float(value) == float(wanted)
    return math.isclose(value, wanted, rel_tol=1e-9)
