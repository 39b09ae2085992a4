"""Splits share groups that exceed the capacity of one kernel."""

from __future__ import annotations

from collections.abc import Iterator

from runtime.language.query import Query
from runtime.plan.operators.graphlet.layout import MOST_CONDITIONS, GraphletLayout

ALWAYS = -(2**63)


def split_to_fit(
    queries: tuple[Query, ...], sharing: str = "dynamic"
) -> Iterator[tuple[Query, ...]]:
    """The share group, cut in halves until each part fits."""
    if len(queries) == 1 or _layout(queries, sharing).fits:
        yield queries
    else:
        half = len(queries) // 2
        yield from split_to_fit(queries[:half], sharing)
        yield from split_to_fit(queries[half:], sharing)


def crowded_types(queries: tuple[Query, ...]) -> tuple[str, ...]:
    """The types with more conditions than a kernel has bits for."""
    conditions = _layout(queries, "dynamic").conditions
    return tuple(type_ for type_, each in conditions.items() if len(each) > MOST_CONDITIONS)


def _layout(queries: tuple[Query, ...], sharing: str) -> GraphletLayout:
    return GraphletLayout(queries, (ALWAYS,) * len(queries), sharing)
