"""The costs of this engine, in the terms that the papers' planners use.

The engine keeps the states of queries that share a transition contiguous. So sharing saves reading
an event in another operator and finding the states; each query's number is still updated. The
papers' equations multiply event rates instead, since their executors keep a graph of events; those
are in `gloria/costs.py` and `sharon/benefit.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.planners.shareable_set import ShareableSet
from runtime.plan.planners.sharon.candidates import Pattern, Queries, Weight

# Small enough to decide only between snapshots of equal cost: rare ones change less often.
TIE = 1e-6


@dataclass(frozen=True)
class EngineCosts:
    """GLORIA's costs. `shares` are the fractions of all events that labels have; `passing` is the
    share of one transition of a query in the cost of reading all events."""

    shares: Mapping[str, float]
    coefficients: CostCoefficients
    passing: float

    @classmethod
    def of(
        cls, shareable: ShareableSet, shares: Mapping[str, float], coefficients: CostCoefficients
    ) -> EngineCosts:
        steps = [len(query.template.automaton.edges) for query in shareable.queries]
        mean = max(1.0, sum(steps) / max(1, len(steps)))
        return cls(shares, coefficients, coefficients.event / mean)

    def start(self, type_: str, k: int) -> float:
        return k * self.shares[type_] * (self.coefficients.enter + self.coefficients.state)

    def apart(self, source: str, target: str, k: int) -> float:
        return k * self._together(target, 1)

    def shared(self, source: str, target: str, snapshots: str, k: int) -> float:
        return self._together(target, k) + TIE * self.length(snapshots, source)

    def into(self, source: str, target: str, k: int) -> float:
        return self._together(target, k)

    def evaluate(self, type_: str, snapshots: str, k: int) -> float:
        """Free: every query already has its own numbers."""
        return 0.0

    def merge(self, type_: str, k: int) -> float:
        return 0.0

    def length(self, snapshots: str, at: str | None = None) -> float:
        return 0.0 if snapshots == at else self.shares[snapshots]

    def _together(self, target: str, k: int) -> float:
        once = self.passing + self.shares[target] * self.coefficients.enter
        return once + k * self.shares[target] * self.coefficients.state


def sequence_weight(costs: EngineCosts) -> Weight:
    """SHARON's weight of a pattern that some queries share: the savings of all but one of them."""

    def weight(pattern: Pattern, queries: Queries) -> float:
        return (len(queries) - 1) * _saved(costs, pattern)

    return weight


def _saved(costs: EngineCosts, pattern: Iterable[str]) -> float:
    return sum(costs.passing + costs.shares[label] * costs.coefficients.enter for label in pattern)
