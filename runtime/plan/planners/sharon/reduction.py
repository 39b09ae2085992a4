"""Finds candidates that need no search: in every optimal plan, or in none (section V)."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.plan.planners.sharon.conflicts import ConflictGraph, members
from runtime.plan.planners.sharon.greedy import guaranteed_weight

# Both sides of the comparison are sums of doubles, and may be equal: a candidate is only dropped
# if it is below by more than their rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Reduction:
    """Sets of vertices: those in every optimal plan, those in none, and those to search."""

    free: int
    ridden: int
    rest: int


def greatest_score(graph: ConflictGraph, v: int, among: int, total: float) -> float:
    """Definition 12: no plan with `v` scores more than all vertices that `v` does not exclude.

    `total` is the score of all vertices; subtracting is fast, as most exclude few others.
    """
    return total - graph.score(graph.conflicts[v] & among)


def conflict_free(graph: ConflictGraph, among: int) -> int:
    """Definition 14: vertices that exclude nothing."""
    return sum(1 << v for v in members(among) if not graph.conflicts[v] & among)


def conflict_ridden(graph: ConflictGraph, among: int) -> int:
    """Definition 13: vertices that exclude so much that even the greedy plan scores more."""
    total = graph.score(among)
    guaranteed = guaranteed_weight(graph, among) - total * _ROUNDING
    return sum(
        1 << v for v in members(among) if greatest_score(graph, v, among, total) < guaranteed
    )


def reduce(graph: ConflictGraph, among: int) -> Reduction:
    """Applies both rules in turn until neither finds more: dropping a vertex frees others."""
    free = ridden = 0
    while True:
        without = conflict_free(graph, among)
        free |= without
        among &= ~without
        hopeless = conflict_ridden(graph, among)
        ridden |= hopeless
        among &= ~hopeless
        if not hopeless:
            return Reduction(free, ridden, among)
