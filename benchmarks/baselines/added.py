"""The numbers that lanes of several queries add, each of them once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.baselines.decoded import NOTHING, Decoded, Doubles
from runtime.language.aggregates import Fold, LaneInput
from runtime.language.query import Lane

Key = tuple[Fold, LaneInput]


class Added:
    """`rows[n, event]`: what an event adds, in any state where it adds something."""

    def __init__(self, group: Sequence[Decoded]) -> None:
        keys = dict.fromkeys(_key(lane) for each in group for lane in each.query.lanes)
        self._numbers = {key: number for number, key in enumerate(keys)}
        self.rows: Doubles = np.empty((len(keys), len(group[0].time)))
        for (fold, _), number in self._numbers.items():
            self.rows[number] = NOTHING[fold]
        for each in group:
            for given, lane in zip(each.values, each.query.lanes, strict=True):
                covered = np.isin(each.state, list(lane.positions))
                self.rows[self._numbers[_key(lane)], covered] = given[covered]

    def row(self, lane: Lane, state: int) -> int:
        """-1: a lane adds nothing in this state."""
        return self._numbers[_key(lane)] if state in lane.positions else -1


def _key(lane: Lane) -> Key:
    return lane.fold, lane.input
