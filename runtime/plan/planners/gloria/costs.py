"""The cost interface of the GLORIA planner, and the paper's costs.

A shared set of `k` queries carries one expression over the snapshots of a type instead of `k`
values. Propagating it costs once, evaluating it once per query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class GloriaCosts(Protocol):
    """All costs that the planner uses. `shared` and `evaluate` must not fall as `length` rises:
    the pruning of nodes relies on it (the GLORIA paper, section 7.3)."""

    def start(self, type_: str, k: int) -> float:
        """Trends of `k` queries start at events of the type."""
        ...

    def apart(self, source: str, target: str, k: int) -> float:
        """A transition of `k` queries that do not share it."""
        ...

    def shared(self, source: str, target: str, snapshots: str, k: int) -> float:
        """A transition of `k` queries that share it, with snapshots of a type."""
        ...

    def into(self, source: str, target: str, k: int) -> float:
        """A step of a shared loop into the type whose snapshots the loop uses."""
        ...

    def evaluate(self, type_: str, snapshots: str, k: int) -> float:
        """Expressions of events of the type become a value for each of `k` queries."""
        ...

    def merge(self, type_: str, k: int) -> float:
        """`k` queries that were not shared store their values as new snapshots of the type."""
        ...

    def length(self, snapshots: str, at: str | None = None) -> float:
        """Of the expression of an event of type `at`, or of any later type."""
        ...


@dataclass(frozen=True)
class PaperCosts:
    """Equations 2 to 4, with the conventions that reproduce the tables of the paper: the first
    type of a query costs its rate; equation 3 has no factor for the receiving type; an expression
    has length 1 at the type of the snapshots itself; merging unshared queries is free."""

    rates: Mapping[str, float]

    def start(self, type_: str, k: int) -> float:
        return k * self.rates[type_]

    def apart(self, source: str, target: str, k: int) -> float:
        return k * self.rates[source] * self.rates[target]

    def shared(self, source: str, target: str, snapshots: str, k: int) -> float:
        return self.rates[source] * self.length(snapshots, source)

    def into(self, source: str, target: str, k: int) -> float:
        return self.apart(source, target, k)

    def evaluate(self, type_: str, snapshots: str, k: int) -> float:
        return k * self.rates[type_] * self.length(snapshots, type_)

    def merge(self, type_: str, k: int) -> float:
        return 0.0

    def length(self, snapshots: str, at: str | None = None) -> float:
        return 1.0 if snapshots == at else self.rates[snapshots]
