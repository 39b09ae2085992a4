"""The physical plan: which operator evaluates which queries, together with whom, and why.

A physical plan is a value. The planner makes it, `hamlet explain` prints it, the executor runs it,
a checkpoint names it, and a re-plan is the difference of two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from runtime.language.query import Query
from runtime.plan.operators.graphlet.shared_subpattern import Part


class Rejection(NamedTuple):
    """An operator that comes earlier in the registry, and what it cannot evaluate in a query."""

    operator: str
    obstacles: tuple[str, ...]


NodeKey: TypeAlias = tuple[str, tuple[str, ...], tuple[int | None, ...], tuple[Part, ...]]


@dataclass(frozen=True)
class OperatorNode:
    """One operator and the queries that it evaluates together, all of one routing group.

    `since` has, for each query, the start of the first window that it reports; None: all of them.
    `shared_parts` are sub-patterns of several types that queries share as one step.
    `window_strategy` says how overlapping windows are kept. `retired` queries have left: the state
    of the others is laid out around theirs, so they stay in the node and report nothing.
    `reason` says why these queries form a node of their own, if that needs saying."""

    operator: str
    queries: tuple[Query, ...]
    since: tuple[int | None, ...]
    shared_parts: tuple[Part, ...] = ()
    window_strategy: str = "auto"
    retired: frozenset[str] = frozenset()
    reason: str = ""

    @cached_property
    def key(self) -> NodeKey:
        """Equal for nodes whose state is laid out alike."""
        return self.operator, self.names, self.since, self.shared_parts

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(query.name for query in self.queries)

    @property
    def active(self) -> tuple[Query, ...]:
        """The queries that it reports."""
        return tuple(query for query in self.queries if query.name not in self.retired)

    @property
    def partition_by(self) -> tuple[str, ...]:
        return self.queries[0].partition_by

    @property
    def aggregates(self) -> Mapping[str, tuple[str, ...]]:
        """What each query computes."""
        return {q.name: tuple(measure.text for measure in q.measures) for q in self.active}


@dataclass(frozen=True)
class PlanDifference:
    """What has to happen to get from one physical plan to another. State of `stopped` nodes moves
    to the `started` ones query by query; `kept` nodes keep theirs, but may have other settings."""

    started: tuple[OperatorNode, ...] = ()
    stopped: tuple[OperatorNode, ...] = ()
    kept: tuple[OperatorNode, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.started or self.stopped)

    @property
    def moved(self) -> tuple[str, ...]:
        """The queries whose state moves to another operator."""
        before = {query.name for node in self.stopped for query in node.active}
        return tuple(q.name for node in self.started for q in node.active if q.name in before)

    def __str__(self) -> str:
        if not self:
            return "no operator changes"
        return (
            f"{_count(self.started, 'operator')} started, {_count(self.stopped, 'operator')} "
            f"stopped, {_count(self.kept, 'operator')} kept; {_count(self.moved, 'query')} moved"
        )


@dataclass(frozen=True)
class PhysicalPlan:
    """The operators of a workload. `rejections` has, for each query, the operators that were
    asked before the one that evaluates it, each with what it cannot evaluate."""

    operators: tuple[OperatorNode, ...] = ()
    rejections: Mapping[str, tuple[Rejection, ...]] = field(default_factory=dict)
    version: int = 0  #: of the sharing plan that it follows

    def __iter__(self) -> Iterator[OperatorNode]:
        return iter(self.operators)

    def node_of(self, query: str) -> OperatorNode:
        return self._node_of[query]

    @cached_property
    def _node_of(self) -> dict[str, OperatorNode]:
        return {query.name: node for node in self.operators for query in node.active}

    def __contains__(self, query: str) -> bool:
        return query in self._node_of

    def difference(self, after: PhysicalPlan) -> PlanDifference:
        """What has to happen to get from this plan to another one."""
        before = {node.key: node for node in self.operators}
        kept = tuple(n for n in after.operators if n.key in before and _same(n, before[n.key]))
        keys = {node.key for node in kept}
        return PlanDifference(
            started=tuple(node for node in after.operators if node.key not in keys),
            stopped=tuple(node for node in self.operators if node.key not in keys),
            kept=kept,
        )


def _same(one: OperatorNode, other: OperatorNode) -> bool:
    """Whether the queries are the same, not just their names."""
    return one.queries == other.queries


def _count(things: tuple[object, ...], noun: str) -> str:
    plural = {"query": "queries"}.get(noun, f"{noun}s")
    return f"{len(things)} {noun if len(things) == 1 else plural}"
