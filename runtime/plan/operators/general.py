"""The general operator: evaluates every query of the language, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtime.language.query import Query
from runtime.plan.operators.declaration import PlanContext, Types, one_each
from runtime.plan.operators.operator_node import OperatorNode


class GeneralDeclaration:
    name = "general"
    summary = "event by event; earlier events are kept if there is an adjacent condition"
    adjacent: str | None = "a scan of earlier events"
    shares = False
    movable = False

    def obstacles(self, query: Query, types: Types) -> Iterator[str]:
        return iter(())

    def cost(self, query: Query) -> str:
        return "O(earlier events) per event" if query.adjacent else "O(states) per event"

    def state_words(self, query: Query) -> int:
        return len(query.template.positions) * (1 + len(query.lanes))

    def arrange(self, queries: Sequence[Query], context: PlanContext) -> Iterator[OperatorNode]:
        return one_each(self.name, queries, context)


GENERAL = GeneralDeclaration()
