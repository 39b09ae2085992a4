"""Estimates the cost of a plan in nanoseconds per event, by which all planners are compared.

A graphlet node pays for every event it reads, for the states that the event enters and, if queries
share sub-patterns, for settling these. The states are those of the node's own layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from runtime.language.query import Query
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.operators.declaration import PlanContext
from runtime.plan.operators.graphlet.declaration import GRAPHLET
from runtime.plan.operators.graphlet.group_split import ALWAYS
from runtime.plan.operators.graphlet.layout import GraphletLayout
from runtime.plan.operators.graphlet.row_class import RowClass
from runtime.plan.operators.graphlet.shared_subpattern import (
    SharedSubpattern,
    adjoins,
    subpatterns_of,
)
from runtime.plan.operators.operator_node import NodeKey, OperatorNode
from runtime.plan.sharing_plan import SharingPlan
from runtime.plan.statistics import Statistics
from runtime.template.query_groups import routing_groups


class OperatorWork(NamedTuple):
    """The average work of an operator per event, in the units of `CostCoefficients`."""

    event: float = 1.0
    enter: float = 0.0
    state: float = 0.0
    repeat: float = 0.0
    settling: float = 0.0
    settle: float = 0.0

    def price(self, coefficients: CostCoefficients) -> float:
        each: list[float] = [getattr(coefficients, name) for name in self._fields]
        return sum(price * count for price, count in zip(each, self, strict=True))


def graphlet_nodes(plan: SharingPlan, queries: Iterable[Query]) -> list[OperatorNode]:
    """The nodes of the queries that the graphlet operator supports. All other queries cost the
    same under every sharing plan."""
    context = PlanContext(sharing_plan=plan)
    return [
        node
        for routing in routing_groups(queries)
        for node in GRAPHLET.arrange(routing.queries, context)
    ]


@dataclass
class CostEstimate:
    """Estimates plans for one workload. Caches nodes, since plans have many in common."""

    statistics: Statistics
    coefficients: CostCoefficients = field(default_factory=CostCoefficients)
    _node_costs: dict[NodeKey, float] = field(default_factory=dict)

    def plan(self, plan: SharingPlan, queries: Sequence[Query]) -> float:
        return sum(self.node(node) for node in graphlet_nodes(plan, queries))

    def node(self, node: OperatorNode) -> float:
        if node.key not in self._node_costs:
            self._node_costs[node.key] = work_of(node, self.statistics).price(self.coefficients)
        return self._node_costs[node.key]


def work_of(node: OperatorNode, statistics: Statistics) -> OperatorWork:
    queries, parts = node.queries, subpatterns_of(node.shared_parts, node.queries)
    layout = GraphletLayout(queries, (ALWAYS,) * len(queries), "dynamic", parts=parts)
    shares = statistics.shares(layout.types)
    enter = state = repeat = 0.0
    for entry in layout.entries:
        row_class = layout.all_row_classes[entry.row_class]
        bursts = shares[entry.type] / statistics.burst(entry.type)
        numbers = 1 + len(row_class.sums) + len(row_class.mins)
        stepped = bursts * entry.queries * row_class.vectors * numbers
        enter += bursts
        if _steps(row_class, entry.position):
            state += stepped
        else:
            repeat += stepped
    settled = [_settling(part, layout, shares) for part in parts]
    times, products = (sum(each) for each in zip(*settled, strict=True)) if settled else (0.0, 0.0)
    return OperatorWork(1.0, enter, state, repeat, times, products)


def _steps(row_class: RowClass, position: int) -> bool:
    """Whether a state has at most one predecessor or only starts trends, which is cheap."""
    before = len(row_class.before[position]) + (position in row_class.first)
    return position not in row_class.loops and before <= 1


def _settling(
    part: SharedSubpattern, layout: GraphletLayout, shares: Mapping[str, float]
) -> tuple[float, float]:
    """How often an event settles the part, and how many products that takes. An event of an
    adjoining type settles the part if the part has changed since it was last settled."""
    queries = [query for query in layout.queries if query.name in part.queries]
    outside = [type_ for type_ in layout.types if type_ not in part.types]
    touching = [t for t in outside if any(adjoins(query, t, part) for query in queries)]
    stepped = sum(shares[type_] for type_ in part.types)
    touched = sum(shares[type_] for type_ in touching)
    if not touched:
        return 0.0, 0.0
    often = touched * stepped / (touched + stepped)
    columns = len(part.types) + len(part.entered)
    sharing = [
        (row_class.vectors, sum(layout.queries[n].name in part.queries for n in members))
        for row_class, members in zip(layout.row_classes, layout.members, strict=True)
    ]
    vectors = sum(windows * queries for windows, queries in sharing)
    blocks = sum(queries > 0 for _, queries in sharing)
    return often * blocks, often * len(part.types) * columns * vectors
