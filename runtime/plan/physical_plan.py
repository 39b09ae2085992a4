"""The physical plan: which operator evaluates which queries, which of them together, and why.

A physical plan is a value. The planner makes it, `hamlet explain` prints it, the executor runs it,
a checkpoint names it, and a re-plan is the difference of two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from runtime.plan.operators.operator_node import OperatorNode


class Rejection(NamedTuple):
    """An operator earlier in the registry, and the features of a query that it does not
    support."""

    operator: str
    obstacles: tuple[str, ...]


@dataclass(frozen=True)
class PlanDifference:
    """The steps from one physical plan to another. The state of `stopped` nodes moves to the
    `started` ones query by query; `kept` nodes keep theirs but may have other settings."""

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
    """The operators of a workload. `rejections` has, for each query, the operators that come
    before the one that evaluates it, each with the features that it does not support."""

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
        """The steps from this plan to another one."""
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
