"""An upper bound for the weight that a set of candidates can add to a plan.

Candidates that all exclude each other form a clique: a plan has at most one of them. Each weight is
cut into pieces, one for each clique of the candidate; all members of a clique have pieces of equal
size, so a plan gets a clique's piece at most once. The paper has no such bound; it goes through all
valid plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from runtime.plan.planners.sharon.conflicts import ConflictGraph, members


class Clique(NamedTuple):
    """Candidates that exclude each other, and the piece of weight that they share."""

    vertices: int
    piece: float


def cliques(graph: ConflictGraph, among: int) -> Iterator[Clique]:
    """Cuts the weights of a set into cliques. Starts with the heaviest remaining vertex, which
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
    """The most weight that a plan can get from a set."""
    return sum([piece for vertices, piece in cut if vertices & among])
