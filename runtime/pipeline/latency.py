"""Finds when the last event of a window arrived, to compute the latency of its result.

For every epoch it keeps the panes that hold events, by type. The last event of a window arrived
with the newest epoch that has an event of the query's types in one of the window's panes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.language.query import Query
from runtime.language.window import pane_of as common_pane

Ints: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]

ANY = ""  #: stands for every type

#: The panes that hold events of each type, in order.
Panes: TypeAlias = dict[str, Ints]

# Older epochs are dropped; a window that waits longer has no latency.
MOST_EPOCHS = 4_096
# Up to this many cells per event, marking cells is faster than sorting.
MOST_CELLS_PER_EVENT = 4


def pane_of(queries: Iterable[Query]) -> int:
    """The length that divides all time windows; 0 if there are none."""
    return common_pane(q.window for q in queries if not q.window.counted)


def panes_by_type(panes: Ints, types: pa.DictionaryArray, names: Collection[str]) -> Panes:
    """The panes that hold events of the types in `names`, by the pane and type of each event."""
    if len(panes) == 0:
        return {}
    dictionary = types.dictionary.to_pylist()
    first, span = int(panes.min()), int(panes.max() - panes.min()) + 1
    codes = types.indices.to_numpy()
    if span * len(dictionary) > MOST_CELLS_PER_EVENT * len(panes) + 1_024:
        found = {n: np.unique(panes[codes == c]) for c, n in enumerate(dictionary) if n in names}
    else:
        marked = np.zeros((len(dictionary), span), np.bool_)
        marked[codes, panes - first] = True
        found = {
            n: first + np.flatnonzero(marked[c]) for c, n in enumerate(dictionary) if n in names
        }
    return {name: each for name, each in found.items() if len(each)}


def panes_in_order(times: Ints, pane: int) -> Panes:
    """The panes of events of any type, in order of time, usually without visiting every event."""
    if pane == 0 or len(times) == 0:
        return {}
    first, last = int(times[0]) // pane, int(times[-1]) // pane
    dense = last - first < len(times)
    return {ANY: np.arange(first, last + 1) if dense else np.unique(times // pane)}


def joined(several: Iterable[Panes]) -> Panes:
    found: dict[str, list[Ints]] = {}
    for each in several:
        for name, panes in each.items():
            found.setdefault(name, []).append(panes)
    return {
        name: panes[0] if len(panes) == 1 else np.unique(np.concatenate(panes))
        for name, panes in found.items()
    }


class _Arrival(NamedTuple):
    time: float
    panes: Panes
    newest: int


class ArrivalTimes:
    """The arrival times of recent epochs, by panes of one length."""

    def __init__(self, pane: int) -> None:
        self.pane = pane
        self._arrivals: list[_Arrival] = []  # in order of time

    def add(self, panes: Panes, arrived: float) -> None:
        """Adds events that arrived at a Unix time."""
        if panes:
            newest = max(int(each[-1]) for each in panes.values())
            insort(
                self._arrivals, _Arrival(arrived, panes, newest), key=lambda arrival: arrival.time
            )
            del self._arrivals[:-MOST_EPOCHS]

    def of_windows(self, types: Collection[str], starts: Ints, ends: Ints) -> Doubles:
        """When the last event of each window arrived; NaN if unknown."""
        found = np.full(len(starts), np.nan)
        if self.pane == 0:
            return found
        first, last = starts // self.pane, -(-ends // self.pane)
        for arrival in reversed(self._arrivals):
            for panes in (arrival.panes[name] for name in types if name in arrival.panes):
                place = np.searchsorted(panes, first)
                inside = panes[np.minimum(place, len(panes) - 1)] < last
                hit = (place < len(panes)) & inside & np.isnan(found)
                found[hit] = arrival.time
            if not np.isnan(found).any():
                break
        return found

    def drop(self, before: int) -> None:
        """Drops arrivals that only matter to windows that start before this time."""
        if self.pane:
            self._arrivals = [
                arrival for arrival in self._arrivals if arrival.newest >= before // self.pane
            ]


def longest_window(queries: Mapping[str, Query]) -> int:
    """The longest window by time."""
    return max((q.window.within for q in queries.values() if not q.window.counted), default=0)
