"""The range-index operator: finds earlier events by a comparison in an ordered tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from runtime.language.ambiguity import needs_subsets
from runtime.language.query import Fold, Query, Semantics, Window
from runtime.plan.operators.declaration import (
    PlanContext,
    Types,
    common_obstacles,
    unsigned_extremes,
)
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.operators.range_index.comparison_edges import comparisons, is_ordered


class RangeIndexDeclaration:
    """Queries with the same windows share one set of trees, and the state of common Kleene
    parts."""

    name = "range_index"
    summary = "event by event, with earlier events in an ordered index"
    adjacent: str | None = "an ordered index, O(log n) per event"
    shares = True
    movable = False

    def obstacles(self, query: Query, types: Types) -> Iterator[str]:
        if query.semantics is not Semantics.ANY:
            yield query.semantics.value
        yield from common_obstacles(query, adjacent=False)
        if query.semantics is Semantics.ANY and not query.conjunctive and needs_subsets(query):
            yield "trends that fit in two ways"
        for lane in query.lanes:
            kind = types.get(lane.attribute or "", pa.null())
            if lane.fold is not Fold.SUM and not is_ordered(kind):
                yield f"MIN or MAX of {lane.attribute}, which is not a number"
        if not query.adjacent:
            yield "no adjacent condition"
        elif comparisons(query, types) is None:
            yield "an adjacent condition other than one comparison of two numbers per step"
        yield from unsigned_extremes(query, types)

    def cost(self, query: Query) -> str:
        return "O(log n) per event"

    def state_words(self, query: Query) -> int:
        return len(query.template.positions) * (2 + len(query.lanes))

    def arrange(self, queries: Sequence[Query], context: PlanContext) -> Iterator[OperatorNode]:
        alike: dict[tuple[int | None, Window], list[Query]] = {}
        for query in queries:
            alike.setdefault((context.since.get(query.name), query.window), []).append(query)
        for together in alike.values():
            yield OperatorNode(self.name, tuple(together), context.since_of(together))


RANGE_INDEX = RangeIndexDeclaration()
