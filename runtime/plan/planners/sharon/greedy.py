"""GWMIN: the greedy plan and a lower bound for its weight (equation 10)."""

from __future__ import annotations

from runtime.plan.planners.sharon.conflicts import ConflictGraph, members


def guaranteed_weight(graph: ConflictGraph, among: int) -> float:
    """Equation 10, for the sub-graph of the vertices in `among`."""
    return sum(
        graph.weights[v] / ((graph.conflicts[v] & among).bit_count() + 1) for v in members(among)
    )


def gwmin(graph: ConflictGraph, among: int) -> int:
    """Repeatedly chooses the vertex with the most weight per conflict and drops its conflicts."""

    def worth(v: int) -> float:
        return graph.weights[v] / ((graph.conflicts[v] & among).bit_count() + 1)

    worths = {v: worth(v) for v in members(among)}
    plan = 0
    while worths:
        best = max(worths, key=worths.__getitem__)
        gone = (graph.conflicts[best] | 1 << best) & among
        plan |= 1 << best
        among &= ~gone
        relieved = 0
        for v in members(gone):
            del worths[v]
            relieved |= graph.conflicts[v]
        for v in members(relieved & among):
            worths[v] = worth(v)
    return plan
