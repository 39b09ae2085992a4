"""Reads the adjacent conditions of a query as comparisons of two adjacent events' attributes.

Each step between positions may have at most one adjacent condition, which must compare an attribute
of the earlier event with one of the next. Then the matching earlier events are those with a key
below, at or above the next event's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from runtime.language import ast as s
from runtime.language.query import AdjacentCondition, Query
from runtime.plan.operators.range_index.key_range import ABOVE, AT, BELOW

# The key ranges that match, relative to the value of the next event: `key < value` is below it.
PARTS = {
    "<": BELOW,
    "<=": BELOW | AT,
    "=": AT,
    "!=": BELOW | ABOVE,
    ">=": AT | ABOVE,
    ">": ABOVE,
}


@dataclass(frozen=True)
class Edge:
    """A step under an adjacent comparison: the earlier event's `key` is in `parts` of `border`,
    which is the next event's."""

    key: str
    border: str
    parts: int


def edges_of(query: Query, types: Mapping[str, pa.DataType]) -> dict[tuple[int, int], Edge]:
    """The steps that have an adjacent comparison; the others have no adjacent condition."""
    edges = comparisons(query, types)
    assert edges is not None, "the range index does not support the query"
    return edges


def comparisons(
    query: Query, types: Mapping[str, pa.DataType]
) -> dict[tuple[int, int], Edge] | None:
    """Like `edges_of`, but None if the range index does not support the query."""
    edges: dict[tuple[int, int], Edge] = {}
    for condition in query.adjacent:
        edge = _edge(condition, types)
        for p, q in query.template.automaton.edges:
            if p in condition.before and q in condition.after:
                if edge is None or (p, q) in edges:
                    return None
                edges[p, q] = edge
    return edges


def _edge(condition: AdjacentCondition, types: Mapping[str, pa.DataType]) -> Edge | None:
    match condition.expression:
        case s.Compare(symbol, s.Attribute(next=False) as left, s.Attribute(next=True) as right):
            if _comparable(types.get(left.name), types.get(right.name)):
                return Edge(left.name, right.name, PARTS[symbol])
    return None


def _comparable(one: pa.DataType | None, other: pa.DataType | None) -> bool:
    """Whether the integers that represent the two columns can be compared with each other."""
    if one is None or other is None or not (is_ordered(one) and is_ordered(other)):
        return False
    return bool(one == other or (_is_whole(one) and _is_whole(other)))


def _is_whole(data_type: pa.DataType) -> bool:
    return bool(pt.is_boolean(data_type) or (pt.is_integer(data_type) and data_type != pa.uint64()))


def is_ordered(data_type: pa.DataType) -> bool:
    """Whether values map to integers whose order never changes."""
    number = pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_boolean(data_type)
    return bool(number or pt.is_timestamp(data_type))
