"""How often events of each type come, and whether that has changed.

A change is believed when it is large and lasts: the mix of types must be further than `FAR` from
the one that was planned for, for as many reports in a row as the watch is patient. A plan that
came to the same makes it more patient, so that a stream that goes to and fro is not planned anew
all the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from runtime.plan.observations import Seen
from runtime.plan.statistics import Statistics

FORGET = 0.9  # what a count still counts one report later
FAR, NEAR = 0.25, 0.15  # of the events, that are of another type than before
PATIENCE, MOST_PATIENCE = 3, 96
LEAST = 1_000  # events before anything is believed


class Rates:
    def __init__(self) -> None:
        self._counts: defaultdict[str, float] = defaultdict(float)
        self._bursts: defaultdict[str, float] = defaultdict(float)
        self._in_bursts: defaultdict[str, float] = defaultdict(float)
        self._planned: Mapping[str, float] | None = None
        self._patience = PATIENCE
        self._away = 0

    def hear(self, seen: Seen) -> None:
        for kept, heard in (
            (self._counts, {**seen.counts, "": seen.others}),
            (self._bursts, seen.bursts),
            (self._in_bursts, seen.in_bursts),
        ):
            for name in kept:
                kept[name] *= FORGET
            for name, count in heard.items():
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
        """The part of the events that are of another type than when it was planned."""
        now = _mix(self._counts)
        before = self._planned
        if before is None:
            return 1.0
        return sum(abs(now.get(n, 0.0) - before.get(n, 0.0)) for n in {*now, *before}) / 2

    @property
    def changed(self) -> bool:
        return self._away >= self._patience

    def planned(self, anew: bool) -> None:
        """The mix of now is planned for. `anew`: and the plan is another one."""
        self._planned = _mix(self._counts)
        self._away = 0
        self._patience = PATIENCE if anew else min(2 * self._patience, MOST_PATIENCE)

    def _watch(self) -> None:
        if sum(self._counts.values()) < LEAST:
            return
        if self._planned is None:
            self._away = self._patience  # nothing is known of the stream yet but this
        elif self.distance > FAR:
            self._away += 1
        elif self.distance < NEAR:
            self._away = 0


def _mix(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()} if total else {}
