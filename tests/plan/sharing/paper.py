"""The paper's own benefit of sharing a burst, and its choice of the queries that share it.

Letters are those of the HAMLET paper: a burst of `b` events meets `n` events of its window and `g`
of its graphlet; `k` queries share it, `sc` snapshots are created from it and `sp` propagated.
Definitions 11 and 12 differ, and both charge `b * n` for a burst where our operators cost about
`b + k`. So the engine decides by a model of its own, fitted to the machine. This one is here to
be read, told and tested; the rules that choose the queries are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import log2
from typing import Protocol


class Cost(Protocol):
    """What a burst costs `k` queries that share it, and `k` that do not."""

    def shared(self, k: int, sc: int, sp: int) -> float: ...

    def non_shared(self, k: int) -> float: ...


@dataclass(frozen=True)
class Definition11:
    """`t`: the event types of a query."""

    b: int
    n: int
    g: int
    t: int

    def shared(self, k: int, sc: int, sp: int) -> float:
        return self.b * self.n * sp + sc * k * self.g * self.t

    def non_shared(self, k: int) -> float:
        return k * self.b * self.n


@dataclass(frozen=True)
class Definition12:
    """`p`: the types that may come before an event of the burst, in one query."""

    b: int
    n: int
    g: int
    p: int

    def shared(self, k: int, sc: int, sp: int) -> float:
        return sc * k * self.g * self.p + self.b * (log2(self.g) + self.n * sp)

    def non_shared(self, k: int) -> float:
        return k * self.b * (log2(self.g) + self.n)


def benefit(cost: Cost, k: int, sc: int, sp: int) -> float:
    """Equations 7 and 8: sharing pays where this is above zero."""
    return cost.non_shared(k) - cost.shared(k, sc, sp)


class Decision(Enum):
    SHARED = "shared"
    SPLIT = "split"
    MERGED = "merged"
    CONTINUED = "continued"


def decide(gain: float, before: bool | None) -> Decision:
    """What a burst's benefit does to a graphlet that was shared before or not (None: is new)."""
    if before is None:
        return Decision.SHARED if gain > 0 else Decision.SPLIT
    if before == (gain > 0):
        return Decision.CONTINUED
    return Decision.MERGED if gain > 0 else Decision.SPLIT


@dataclass(frozen=True)
class Candidates:
    """`k` queries that could share a burst. `created` and `propagated` snapshots are there
    whoever shares; `brings` has the queries that bring new ones (definition 9), and how many."""

    k: int
    brings: Mapping[int, int]
    created: int = 1
    propagated: int = 1


@dataclass(frozen=True)
class Choice:
    """All queries share but those `apart`; if not even the rest gain, `shares` is false."""

    shares: bool
    apart: frozenset[int]


def choose(cost: Cost, queries: Candidates) -> Choice:
    """Theorem 4.1: who brings no snapshot shares. Theorem 4.2: who brings some shares if that
    pays when all others do. One comparison for each query that brings snapshots.

    The reverse of theorem 4.2 is not quite true: `sc * k` grows with the set, so queries that do
    not pay all together may pay a few at a time. Such a choice is good, not always the best.
    """
    new = sum(queries.brings.values())
    everyone = _shared(cost, queries, queries.k, new)

    def pays(own: int) -> bool:  # equation 14
        without = _shared(cost, queries, queries.k - 1, new - own) + cost.non_shared(1)
        return everyone <= without

    apart = frozenset(q for q, own in queries.brings.items() if own > 0 and not pays(own))
    sharing = queries.k - len(apart)
    left = new - sum(queries.brings[q] for q in apart)
    if sharing < 2 or cost.non_shared(sharing) <= _shared(cost, queries, sharing, left):
        return Choice(False, frozenset(range(queries.k)))
    return Choice(True, apart)


def _shared(cost: Cost, queries: Candidates, k: int, new: int) -> float:
    return cost.shared(k, queries.created + new, queries.propagated + new)
