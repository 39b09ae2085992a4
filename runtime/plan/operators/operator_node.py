"""A node of the physical plan: one operator and the queries that it evaluates together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from runtime.language.ast import Expression
from runtime.language.query import Query
from runtime.plan.sharing_plan import SharedPart

NodeKey: TypeAlias = tuple[str, tuple[str, ...], tuple[int | None, ...], tuple[SharedPart, ...]]


@dataclass(frozen=True)
class OperatorNode:
    """One operator and the queries that it evaluates together, all of one routing group.

    `since` has, for each query, the start of the first window that it reports; None: all of them.
    `shared_parts` are sub-patterns of several types that queries share as one step.
    `window_strategy` says how overlapping windows are kept. `retired` queries were removed: the
    state of the others is laid out around theirs, so they stay in the node and report nothing.
    `reason` says why these queries form a node of their own, if it is not obvious."""

    operator: str
    queries: tuple[Query, ...]
    since: tuple[int | None, ...]
    shared_parts: tuple[SharedPart, ...] = ()
    window_strategy: str = "auto"
    retired: frozenset[str] = frozenset()
    reason: str = ""

    @cached_property
    def key(self) -> NodeKey:
        """Equal for nodes whose state has the same layout."""
        return self.operator, self.names, self.since, self.shared_parts

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(query.name for query in self.queries)

    @property
    def active(self) -> tuple[Query, ...]:
        """The queries that report results."""
        return tuple(query for query in self.queries if query.name not in self.retired)

    @property
    def partition_by(self) -> tuple[str, ...]:
        return self.queries[0].partition_by

    @property
    def aggregates(self) -> Mapping[str, tuple[str, ...]]:
        """The aggregates of each query."""
        return {q.name: tuple(measure.text for measure in q.measures) for q in self.active}

    @property
    def predicates(self) -> Mapping[str, tuple[Expression, ...]]:
        """The local and the adjacent conditions of each query, as they are written."""
        return {
            query.name: (
                *(each.written for each in query.local),
                *(each.written for each in query.adjacent),
            )
            for query in self.active
        }
