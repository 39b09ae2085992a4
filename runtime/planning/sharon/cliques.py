"""A bound for what a set of candidates may add to a plan.

Candidates that all exclude each other are a clique: a plan has at most one of them. So a plan
never gets more out of a set than the heaviest of each clique that the set is made of. This is
ours; the paper goes through all valid plans.
"""

from __future__ import annotations

from runtime.planning.sharon.conflicts import Graph


def cliques(graph: Graph, among: int) -> tuple[int, ...]:
    """Cuts a set into cliques, the heaviest candidates first."""
    cut = []
    while among:
        clique, open_to = 0, among
        while open_to:
            lowest = open_to & -open_to
            clique |= lowest
            open_to &= graph.conflicts[lowest.bit_length() - 1]
        cut.append(clique)
        among &= ~clique
    return tuple(cut)


def most(graph: Graph, cut: tuple[int, ...], among: int) -> float:
    """No plan gets more than this out of a set."""
    bound = 0.0
    for clique in cut:
        heaviest = clique & among
        if heaviest:
            bound += graph.weights[(heaviest & -heaviest).bit_length() - 1]
    return bound
