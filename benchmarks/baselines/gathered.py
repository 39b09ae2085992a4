"""The events of slices as columns: a slice is a run of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from benchmarks.baselines.decoded import NOWHERE, Codes, Decoded, Doubles, Ints, Mask
from benchmarks.baselines.lanes import Lanes
from benchmarks.baselines.shared_slices import SharedEvents
from benchmarks.baselines.slices import Slices
from runtime.language.query import Semantics


@dataclass(frozen=True)
class Gathered:
    slices: Slices
    time: Ints
    state: Codes
    values: Doubles  #: [event, lane], as in `Lanes`
    left: Doubles  #: [condition, event]
    right: Doubles

    @property
    def room(self) -> int:
        """The most events of a slice."""
        return int((self.slices.ends - self.slices.begins).max(initial=0))


class Columns:
    """What is gathered for one query: made before the clock."""

    def __init__(self, decoded: Decoded, lanes: Lanes) -> None:
        self._decoded = decoded
        self._lanes = lanes
        conditions, states = decoded.adjacent, decoded.automaton.states
        size = len(conditions), len(decoded.time)
        self._left = np.array([each.left for each in conditions]).reshape(size)
        self._right = np.array([each.right for each in conditions]).reshape(size)
        #: Of events that sit in no state: they count where they break contiguity, nowhere else.
        self._least = 0 if decoded.query.semantics is not Semantics.CONTIGUOUS else NOWHERE
        self.operators: Ints = np.array([each.operator for each in conditions], np.int64)
        applies = np.array([each.applies for each in conditions], np.bool_)
        self.applies: Mask = applies.reshape(len(conditions), states, states)

    def gathered(self, shared: SharedEvents) -> Gathered:
        decoded, cut = self._decoded, shared.slices
        columns, bounds = _gathered(
            (cut.order, cut.begins, cut.ends, cut.window, cut.slot),
            self._least,
            (decoded.time, decoded.state, self._lanes.values, self._left, self._right),
        )
        return Gathered(Slices(cut.order, *bounds), *columns)


@njit(cache=True)
def _gathered(
    cut: tuple[Ints, Ints, Ints, Ints, Ints],
    least: int,
    events: tuple[Ints, Codes, Doubles, Doubles, Doubles],
) -> tuple[tuple[Ints, Codes, Doubles, Doubles, Doubles], tuple[Ints, Ints, Ints, Ints]]:
    """One pass over the events of all queries for those of one. Slices that hold none of them are
    left out."""
    order, begins, ends, window, slot = cut
    time, state, values, left, right = events
    own = np.empty(len(order), np.int64)
    before = np.empty(len(order) + 1, np.int64)
    size = 0
    for place in range(len(order)):
        before[place] = size
        own[size] = order[place]
        size += state[order[place]] >= least
    before[len(order)] = size
    own_time, own_state = np.empty(size, np.int64), np.empty(size, np.int8)
    own_values = np.empty((size, values.shape[1]))
    own_left, own_right = np.empty((len(left), size)), np.empty((len(left), size))
    for i in range(size):
        event = own[i]
        own_time[i], own_state[i] = time[event], state[event]
        for w in range(values.shape[1]):
            own_values[i, w] = values[event, w]
        for c in range(len(left)):
            own_left[c, i], own_right[c, i] = left[c, event], right[c, event]
    found = np.empty((4, len(begins)), np.int64)
    count = 0
    for i in range(len(begins)):
        found[0, count], found[1, count] = before[begins[i]], before[ends[i]]
        found[2, count], found[3, count] = window[i], slot[i]
        count += found[0, count] < found[1, count]
    columns = own_time, own_state, own_values, own_left, own_right
    return columns, (found[0, :count], found[1, :count], found[2, :count], found[3, :count])
