"""Prunes the edges and nodes of a pool while the graph grows."""

from __future__ import annotations

from runtime.plan.planners.gloria.edge_cost import EdgeCosts
from runtime.plan.planners.gloria.node import PlanNode
from runtime.plan.planners.gloria.template import TemplatePlace


def prune_edges(nodes: list[PlanNode]) -> list[PlanNode]:
    """Keeps the shortest of several paths to the same plan."""
    best: dict[object, PlanNode] = {}
    for node in nodes:
        other = best.get(node.sets)
        if other is None or node.distance < other.distance:
            best[node.sets] = node
    return list(best.values())


def prune_nodes(
    weights: EdgeCosts, place: TemplatePlace, nodes: list[PlanNode], strict: bool
) -> list[PlanNode]:
    """Drops a node if another one with the same Q-sets is no farther from the start and has no
    longer expressions.

    The paper compares distances up to the source of the pool, and the rates of snapshots. Since an
    expression has length 1 at the type of its own snapshots, that can lose the best plan. `strict`
    compares the cost up to the target and the lengths there, and never loses it."""
    kept: list[PlanNode] = []
    comparable: dict[tuple[int, ...], list[PlanNode]] = {}
    for node in sorted(nodes, key=lambda each: each.passed if strict else each.distance):
        rivals = comparable.setdefault(tuple(q for q, _ in node.sets), [])
        if not any(_lighter(weights, place, rival, node, strict) for rival in rivals):
            rivals.append(node)
            kept.append(node)
    return kept


def _lighter(
    weights: EdgeCosts, place: TemplatePlace, one: PlanNode, other: PlanNode, strict: bool
) -> bool:
    """Whether `one`, which is no farther, has no longer expressions."""
    length = weights.costs.length
    return all(
        length(a) <= length(b)
        and (not strict or length(a, place.target) <= length(b, place.target))
        for (_, a), (_, b) in zip(one.sets, other.sets, strict=True)
    )
