"""The aggregates of many trends at once: their count and their lanes.

A bundle has a row of lanes for each position its trends can end in, since an aggregate by alias
depends on the binding; bindings that meet again agree (`language/ambiguity.py` rejects all other
queries).

Laws: `add` is commutative and associative, and the bundle without trends is its unit. Extending
all trends by one event is linear: extending a sum is the sum of the extensions.
"""

from __future__ import annotations

from typing import Any

from runtime.execution.rationals import greatest, least
from runtime.language.query import Fold, Lane

Lanes = list[Any]


def no_lanes(lanes: tuple[Lane, ...]) -> Lanes:
    """The lanes of no trends: sums are zero, minima and maxima are absent."""
    return [0 if lane.fold is Fold.SUM else None for lane in lanes]


def add_lanes(folds: tuple[Fold, ...], total: Lanes, more: Lanes) -> None:
    for j, fold in enumerate(folds):
        if fold is Fold.SUM:
            total[j] += more[j]
        elif fold is Fold.MIN:
            total[j] = least(total[j], more[j])
        else:
            total[j] = greatest(total[j], more[j])


class LaneTotals:
    __slots__ = ("count", "lanes")

    def __init__(self, count: int, lanes: list[Lanes]) -> None:
        self.count = count
        self.lanes = lanes

    def add(self, folds: tuple[Fold, ...], other: LaneTotals) -> None:
        self.count += other.count
        if folds:
            for mine, theirs in zip(self.lanes, other.lanes, strict=True):
                add_lanes(folds, mine, theirs)
