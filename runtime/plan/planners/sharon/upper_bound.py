"""A bound for what a set of candidates may add to a plan.

Candidates that all exclude each other are a clique: a plan has at most one of them. So where each
weight is cut into pieces, and each piece laid on a clique whose members have one of equal size,
a plan gets a clique's piece at most once. This is ours; the paper goes through all valid plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from runtime.plan.planners.sharon.conflicts import ConflictGraph, members


class Clique(NamedTuple):
    """Candidates of which a plan has one at most, and the piece of weight that they share."""

    vertices: int
    piece: float


def cliques(graph: ConflictGraph, among: int) -> Iterator[Clique]:
    """Cuts the weights of a set into cliques. The heaviest that is left comes first, as that
    gave the lowest bounds; each clique uses up one vertex or more."""
    left = {v: graph.weights[v] for v in members(among)}
    while among:
        clique, allowed = [], among
        while allowed:
            v = max(members(allowed), key=left.__getitem__)
            clique.append(v)
            allowed &= graph.conflicts[v]
        piece = min(left[v] for v in clique)
        yield Clique(sum(1 << v for v in clique), piece)
        for v in clique:
            left[v] -= piece
            if left[v] <= 0:
                among &= ~(1 << v)


def most(cut: Iterable[Clique], among: int) -> float:
    """No plan gets more than this out of a set."""
    return sum([piece for vertices, piece in cut if vertices & among])
