"""Tracks how often events of each type come, and decides whether that has changed.

A change counts if it is large and lasts: the mix of types must be further than `FAR` from the
planned one for a number of reports in a row, the patience. A re-plan that keeps the plan doubles
the patience, so that a stream that alternates is not re-planned all the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from runtime.plan.observations import Observations
from runtime.plan.statistics import Statistics

FORGET = 0.9  # weight of a count one report later
FAR, NEAR = 0.25, 0.15  # part of the events that have another type than before
PATIENCE, MOST_PATIENCE = 3, 96
LEAST = 1_000  # events before a change counts


class RateTracker:
    def __init__(self) -> None:
        self._counts: defaultdict[str, float] = defaultdict(float)
        self._bursts: defaultdict[str, float] = defaultdict(float)
        self._in_bursts: defaultdict[str, float] = defaultdict(float)
        self._planned: Mapping[str, float] | None = None
        self._patience = PATIENCE
        self._away = 0

    def observe(self, seen: Observations) -> None:
        for kept, new_counts in (
            (self._counts, {**seen.counts, "": seen.others}),
            (self._bursts, seen.bursts),
            (self._in_bursts, seen.in_bursts),
        ):
            for name in kept:
                kept[name] *= FORGET
            for name, count in new_counts.items():
                kept[name] += count
        self._watch()

    @property
    def statistics(self) -> Statistics:
        lengths = {
            name: self._in_bursts[name] / bursts for name, bursts in self._bursts.items() if bursts
        }
        return Statistics({name: count for name, count in self._counts.items() if count}, lengths)

    @property
    def distance(self) -> float:
        """The part of the events that have another type than in the planned mix."""
        now = _mix(self._counts)
        before = self._planned
        if before is None:
            return 1.0
        return sum(abs(now.get(n, 0.0) - before.get(n, 0.0)) for n in {*now, *before}) / 2

    @property
    def changed(self) -> bool:
        return self._away >= self._patience

    def mark_planned(self, changed: bool) -> None:
        """The current mix is the planned one now. `changed` says whether the plan changed."""
        self._planned = _mix(self._counts)
        self._away = 0
        self._patience = PATIENCE if changed else min(2 * self._patience, MOST_PATIENCE)

    def _watch(self) -> None:
        if sum(self._counts.values()) < LEAST:
            return
        if self._planned is None:
            self._away = self._patience  # the first mix is always new
        elif self.distance > FAR:
            self._away += 1
        elif self.distance < NEAR:
            self._away = 0


def _mix(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()} if total else {}
