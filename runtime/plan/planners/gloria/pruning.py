"""Edge and node pruning, pool by pool, while the graph grows."""

from __future__ import annotations

from runtime.plan.planners.gloria.edge_cost import Weights
from runtime.plan.planners.gloria.node import Node
from runtime.plan.planners.gloria.template import Place


def prune_edges(nodes: list[Node]) -> list[Node]:
    """Of several ways to the same plan, the shortest."""
    best: dict[object, Node] = {}
    for node in nodes:
        known = best.get(node.sets)
        if known is None or node.distance < known.distance:
            best[node.sets] = node
    return list(best.values())


def prune_nodes(weights: Weights, place: Place, nodes: list[Node], strict: bool) -> list[Node]:
    """Of comparable nodes, which have the same Q-sets, one goes if another is no farther from the
    start and has no longer expressions.

    The paper compares distances up to the source of the pool, and the rates of snapshots. Since an
    expression has length 1 at the type of its own snapshots, that can lose the best plan. `strict`
    compares what is paid up to the target, and lengths there, and loses none."""
    kept: list[Node] = []
    comparable: dict[tuple[int, ...], list[Node]] = {}
    for node in sorted(nodes, key=lambda each: each.passed if strict else each.distance):
        rivals = comparable.setdefault(tuple(q for q, _ in node.sets), [])
        if not any(_lighter(weights, place, rival, node, strict) for rival in rivals):
            rivals.append(node)
            kept.append(node)
    return kept


def _lighter(weights: Weights, place: Place, one: Node, other: Node, strict: bool) -> bool:
    """`one`, which is as near, has no longer expressions."""
    length = weights.costs.length
    return all(
        length(a) <= length(b)
        and (not strict or length(a, place.target) <= length(b, place.target))
        for (_, a), (_, b) in zip(one.sets, other.sets, strict=True)
    )
