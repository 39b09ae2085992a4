"""The next-match operator: keeps one vector of states for each open window, and no events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.types as pt

from runtime.language.query import Fold, Lane, Query, Semantics
from runtime.plan.operators.declaration import (
    PlanContext,
    Types,
    common_obstacles,
    one_each,
    unsigned_extremes,
)
from runtime.plan.operators.operator_node import OperatorNode

MOST_STATES = 62  # a set of states fits in one 64-bit word


class NextMatchDeclaration:
    """Supported if the automaton state alone identifies a partial trend."""

    name = "next_match"
    summary = "event by event, with one vector of states for each open window"
    adjacent: str | None = None
    shares = False
    movable = False

    def obstacles(self, query: Query, types: Types) -> Iterator[str]:
        named = [position.type for position in query.template.positions]
        if query.semantics is Semantics.ANY:
            yield query.semantics.value
        yield from common_obstacles(query, adjacent=True)
        if query.window.counted:
            yield "windows of events"
        if len(set(named)) < len(named):
            yield "an event type in two places of the pattern"
        if len(named) > MOST_STATES:
            yield f"more than {MOST_STATES} places in the pattern"
        for lane in extremes(query):
            if not _is_number(types.get(lane.attribute or "")):
                yield f"MIN or MAX of {lane.attribute}, which is not a number"
        yield from unsigned_extremes(query, types)

    def cost(self, query: Query) -> str:
        return "O(open windows) per event"

    def state_words(self, query: Query) -> int:
        return query.window.open_at_once * len(query.template.positions) * (1 + len(query.lanes))

    def arrange(self, queries: Sequence[Query], context: PlanContext) -> Iterator[OperatorNode]:
        return one_each(self.name, queries, context)


NEXT_MATCH = NextMatchDeclaration()


def sums(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if lane.fold is Fold.SUM]


def extremes(query: Query) -> list[Lane]:
    return [lane for lane in query.lanes if lane.fold is not Fold.SUM]


def _is_number(data_type: pa.DataType | None) -> bool:
    """Whether `Batch.order` gives values in their own order; for text it gives ids."""
    return data_type is None or pt.is_primitive(data_type) or pt.is_null(data_type)
