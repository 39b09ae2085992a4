"""Merges the partial results of closed windows into result rows.

A GROUP-BY value may be in partitions of several engines, so an engine's totals are partial until
they are merged. Only then are averages divided, HAVING applied and numbers rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from runtime.execution.exact.executor import WindowTotals
from runtime.execution.exact.results import ExactWriter, Group, TotalsMerge
from runtime.execution.exact.trends import Totals
from runtime.execution.result_writer import FloatWriter
from runtime.execution.window_partials import PartialAggregates, merge
from runtime.language.query import Query
from runtime.types.time_codec import TimeCodec

#: Of one query: columns from the compiled engine, a mapping from the exact one.
Partial: TypeAlias = PartialAggregates | dict[Group, Totals]
Partials: TypeAlias = Mapping[str, Partial]


def combine(
    partials: Sequence[Partials],
    queries: Iterable[Query],
    types: Mapping[str, pa.DataType],
    clock: TimeCodec | None,
) -> dict[str, pa.Table]:
    """The result rows of the queries that have any totals. `types` are those of attributes."""
    tables = {}
    for query in queries:
        found = [each[query.name] for each in partials if query.name in each]
        if found:
            tables[query.name] = _table(found, query, types, clock)
    return tables


def merged(partials: Sequence[Partials], queries: Iterable[Query]) -> Partials:
    """Partials of the same windows as one, which are smaller together."""
    if len(partials) == 1:
        return partials[0]
    together: dict[str, Partial] = {}
    for query in queries:
        found = [each[query.name] for each in partials if query.name in each]
        if found:
            together[query.name] = _merged(found, query)
    return together


def empty_table(
    query: Query, types: Mapping[str, pa.DataType], clock: TimeCodec | None, numeric: str
) -> pa.Table:
    if numeric == "exact":
        return ExactWriter(query, types, numeric).table({}, clock)
    return FloatWriter(query, types).table(None, clock)


def _table(
    found: list[Partial], query: Query, types: Mapping[str, pa.DataType], clock: TimeCodec | None
) -> pa.Table:
    together = _merged(found, query)
    if isinstance(together, PartialAggregates):
        return FloatWriter(query, types).table(together, clock)
    return ExactWriter(query, types, "exact").table(together, clock)


def _merged(found: list[Partial], query: Query) -> Partial:
    blocks = [each for each in found if isinstance(each, PartialAggregates)]
    if blocks:
        return merge(blocks, [lane.fold for lane in query.lanes])
    sums = TotalsMerge([query])
    for totals in found:
        assert isinstance(totals, dict)
        sums.add(WindowTotals(query.name, *at, each) for at, each in totals.items())
    return sums.take(query.name)
