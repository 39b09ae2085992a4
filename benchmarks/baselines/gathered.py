"""The events of slices as columns: a slice is a run of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.baselines.decoded import NOWHERE, Codes, Decoded, Doubles, Ints
from benchmarks.baselines.lanes import Lanes
from benchmarks.baselines.slices import Slices, cut
from runtime.language.query import Semantics


@dataclass(frozen=True)
class Gathered:
    slices: Slices
    time: Ints
    state: Codes
    values: Doubles  #: [event, lane], as in `Lanes`
    left: Doubles  #: [condition, event]
    right: Doubles

    def matched(self) -> Ints:
        """How many events of each slice sit in a state."""
        running = np.concatenate(([0], np.cumsum(self.state != NOWHERE)))
        return running[self.slices.ends] - running[self.slices.begins]


def gathered(decoded: Decoded, lanes: Lanes) -> Gathered:
    """Events that sit in no state count where they break contiguity, and nowhere else."""
    if decoded.query.semantics is Semantics.CONTIGUOUS:
        picked = np.arange(len(decoded.time))
    else:
        picked = np.flatnonzero(decoded.state != NOWHERE)
    slices = cut(decoded.time[picked], decoded.slot[picked], decoded.query.window)
    order = picked[slices.order]
    conditions = decoded.adjacent
    return Gathered(
        slices=slices,
        time=decoded.time.take(order),
        state=decoded.state.take(order),
        values=lanes.values.take(order, axis=0),
        left=_stacked([each.left.take(order) for each in conditions], len(order)),
        right=_stacked([each.right.take(order) for each in conditions], len(order)),
    )


def _stacked(columns: list[Doubles], size: int) -> Doubles:
    return np.array(columns).reshape(len(columns), size)
