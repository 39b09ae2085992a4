"""Merges the partial results of closed windows into result rows.

A GROUP-BY value may be in partitions of several engines, so an engine's totals are partial until
they are merged. Only then are averages computed, HAVING applied and numbers rounded.
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

#: The partial results of one query: columns (compiled engine) or a mapping (exact engine).
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
        several = [each[query.name] for each in partials if query.name in each]
        if several:
            tables[query.name] = _table(several, query, types, clock)
    return tables


def merge_partials(partials: Sequence[Partials], queries: Iterable[Query]) -> Partials:
    """Merges partials of the same windows, which makes them smaller."""
    if len(partials) == 1:
        return partials[0]
    merged: dict[str, Partial] = {}
    for query in queries:
        several = [each[query.name] for each in partials if query.name in each]
        if several:
            merged[query.name] = _merge(several, query)
    return merged


def empty_table(
    query: Query, types: Mapping[str, pa.DataType], clock: TimeCodec | None, numeric: str
) -> pa.Table:
    if numeric == "exact":
        return ExactWriter(query, types, numeric).table({}, clock)
    return FloatWriter(query, types).table(None, clock)


def _table(
    several: list[Partial], query: Query, types: Mapping[str, pa.DataType], clock: TimeCodec | None
) -> pa.Table:
    merged = _merge(several, query)
    if isinstance(merged, PartialAggregates):
        return FloatWriter(query, types).table(merged, clock)
    return ExactWriter(query, types, "exact").table(merged, clock)


def _merge(several: list[Partial], query: Query) -> Partial:
    blocks = [each for each in several if isinstance(each, PartialAggregates)]
    if blocks:
        return merge(blocks, [lane.fold for lane in query.lanes])
    sums = TotalsMerge([query])
    for totals in several:
        assert isinstance(totals, dict)
        sums.add(WindowTotals(query.name, *at, each) for at, each in totals.items())
    return sums.drain(query.name)
