"""The events of one partition in one window: the unit that every baseline aggregates.

A slice is a range of places in `order`. An event in r windows is in r slices, just as it is in r
states of a system that keeps one state per open window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from benchmarks.baselines.decoded import Decoded, Ints
from runtime.language.window import Window


@dataclass(frozen=True)
class Slices:
    order: Ints  #: all events, by partition and time
    begins: Ints
    ends: Ints
    window: Ints  #: its number k
    slot: Ints

    def __len__(self) -> int:
        return len(self.begins)


def slices(decoded: Decoded) -> Slices:
    return cut(decoded.time, decoded.slot, decoded.query.window)


def cut(time: Ints, slot: Ints, window: Window) -> Slices:
    """Slices of any events in order of time."""
    order, starts = _by_slot(slot)
    size = window.within, window.slide
    count = _cut(time, order, starts, *size, _NONE, _NONE, _NONE, _NONE)
    begins, ends, number, slots = (np.empty(count, np.int64) for _ in range(4))
    _cut(time, order, starts, *size, begins, ends, number, slots)
    return Slices(order, begins, ends, number, slots)


_NONE = np.empty(0, np.int64)


@njit(cache=True)
def _by_slot(slot):
    """A counting sort, which keeps the order of time."""
    starts = np.zeros(slot.max() + 2 if len(slot) else 1, np.int64)
    for each in slot:
        starts[each + 1] += 1
    starts = np.cumsum(starts)
    after = starts.copy()
    order = np.empty(len(slot), np.int64)
    for event in range(len(slot)):
        order[after[slot[event]]] = event
        after[slot[event]] += 1
    return order, starts


@njit(cache=True)
def _cut(time, order, starts, within, slide, begins, ends, number, slot):
    """Writes every slice that holds an event, if there is room; gives how many there are."""
    found = 0
    for partition in range(len(starts) - 1):
        low, high = starts[partition], starts[partition + 1]
        if low == high:
            continue
        begin = end = low
        k = (time[order[low]] - within) // slide + 1
        while begin < high:
            # Windows without an event are skipped, however many they are.
            k = max(k, (time[order[begin]] - within) // slide + 1)
            while begin < high and time[order[begin]] < k * slide:
                begin += 1
            end = max(begin, end)
            while end < high and time[order[end]] < k * slide + within:
                end += 1
            if begin < end:
                if len(begins):
                    begins[found], ends[found] = begin, end
                    number[found], slot[found] = k, partition
                found += 1
            k += 1
    return found
