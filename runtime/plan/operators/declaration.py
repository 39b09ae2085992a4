"""The interface by which an operator declares the queries it supports, their cost and state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import pyarrow as pa

from runtime.language.query import Fold, Query
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.sharing_plan import SharingPlan

Types: TypeAlias = Mapping[str, pa.DataType]


@dataclass(frozen=True)
class PlanContext:
    """The planner's input besides the queries. `types` are those of the attributes; `since` has
    the start of the first window that a query reports, if it joined late."""

    types: Types = field(default_factory=dict)
    sharing_plan: SharingPlan = field(default_factory=SharingPlan)
    sharing: str = "dynamic"
    since: Mapping[str, int | None] = field(default_factory=dict)

    def since_of(self, queries: Iterable[Query]) -> tuple[int | None, ...]:
        return tuple(self.since.get(query.name) for query in queries)


class OperatorDeclaration(Protocol):
    """An operator as the planner sees it. Its implementation is registered under the same name in
    `runtime/execution/operators/`."""

    name: str
    summary: str  #: how it evaluates queries, in one line
    shares: bool  #: whether queries of one node share work
    adjacent: str | None  #: how it evaluates an adjacent condition; None if it supports none
    movable: bool  #: whether the state of a query can move to another node of this operator

    def obstacles(self, query: Query, types: Types) -> Iterator[str]:
        """The features of a query that the operator does not support; none if it supports it."""

    def cost(self, query: Query) -> str:
        """How the time for an event grows."""

    def state_words(self, query: Query) -> int:
        """The 64-bit words that a query keeps per partition, or per event if the operator keeps
        events."""

    def arrange(self, queries: Sequence[Query], context: PlanContext) -> Iterator[OperatorNode]:
        """The nodes that evaluate these queries of one routing group."""


def common_obstacles(query: Query, *, adjacent: bool) -> Iterator[str]:
    """Features that only the general operator supports; also an adjacent condition, if `adjacent`
    is one of them."""
    if query.conjunctive:
        yield "pairs of trends (&)"
    if adjacent and query.adjacent:
        yield "an adjacent condition"
    if query.template.negations:
        yield "NOT"
    if query.least_length > 1:
        yield "LENGTH"


def one_each(name: str, queries: Sequence[Query], context: PlanContext) -> Iterator[OperatorNode]:
    """A node for each query, for operators that share nothing."""
    for query in queries:
        yield OperatorNode(name, (query,), context.since_of([query]))


def unsigned_extremes(query: Query, types: Types) -> Iterator[str]:
    """The fast operators use the extreme int64 values as the null of MIN and MAX. An unsigned
    64-bit attribute needs all of them."""
    for lane in query.lanes:
        if lane.fold is not Fold.SUM and types.get(lane.attribute or "") == pa.uint64():
            yield f"MIN or MAX of {lane.attribute}, an unsigned 64-bit integer"
            return
