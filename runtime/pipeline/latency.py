"""When the last event of a window arrived, for the latency of its result.

Of every epoch it is kept which panes its events lie in, by type. The last event of a window that a
query could use came with the newest epoch that has an event of its types in one of its panes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.language.query import Query
from runtime.language.window import TimeWindow
from runtime.language.window import pane_of as common_pane

Ints: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]

ANY = ""  #: type

#: The panes in which there are events of a type, in order.
Panes: TypeAlias = dict[str, Ints]

# Windows that wait for so many epochs lose the oldest: their latency is then left out.
MOST_EPOCHS = 4_096
# So many times as many cells as events are marked one by one; beyond that, sorting takes less.
ROOMY = 4


def pane_of(queries: Iterable[Query]) -> int:
    """The length that divides all windows; 0 where none is by time."""
    return common_pane(q.window for q in queries if isinstance(q.window, TimeWindow))


def panes_of(times: Ints, types: pa.DictionaryArray, wanted: Collection[str], pane: int) -> Panes:
    """Where the events of a batch lie, of types that are wanted."""
    if pane == 0 or len(times) == 0:
        return {}
    names = types.dictionary.to_pylist()
    numbers = times // pane
    first, span = int(numbers.min()), int(numbers.max() - numbers.min()) + 1
    codes = types.indices.to_numpy()
    if span * len(names) > ROOMY * len(times) + 1_024:
        found = {n: np.unique(numbers[codes == c]) for c, n in enumerate(names) if n in wanted}
    else:
        there = np.zeros((len(names), span), np.bool_)
        there[codes, numbers - first] = True
        found = {n: first + np.flatnonzero(there[c]) for c, n in enumerate(names) if n in wanted}
    return {name: each for name, each in found.items() if len(each)}


def panes_in_order(times: Ints, pane: int) -> Panes:
    """As `panes_of`, of events in order of time and of any type: of this nobody looks at every
    event."""
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


class _Came(NamedTuple):
    arrived: float
    panes: Panes
    newest: int


class Arrivals:
    """`pane` may change with the workload; what came before is then forgotten."""

    def __init__(self, pane: int) -> None:
        self.pane = pane
        self._came: list[_Came] = []  # by arrival

    def came(self, panes: Panes, arrived: float) -> None:
        """At the time of day `arrived`."""
        if panes:
            newest = max(int(each[-1]) for each in panes.values())
            insort(self._came, _Came(arrived, panes, newest), key=lambda came: came.arrived)
            del self._came[:-MOST_EPOCHS]

    def of_windows(self, types: Collection[str], starts: Ints, ends: Ints) -> Doubles:
        """When the last event of each window came; NaN where nobody knows."""
        found = np.full(len(starts), np.nan)
        if self.pane == 0:
            return found
        first, last = starts // self.pane, -(-ends // self.pane)
        for came in reversed(self._came):
            for panes in (came.panes[name] for name in types if name in came.panes):
                place = np.searchsorted(panes, first)
                inside = panes[np.minimum(place, len(panes) - 1)] < last
                hit = (place < len(panes)) & inside & np.isnan(found)
                found[hit] = came.arrived
            if not np.isnan(found).any():
                break
        return found

    def forget(self, before: int) -> None:
        """No window is asked for that begins before this time."""
        if self.pane:
            self._came = [came for came in self._came if came.newest >= before // self.pane]


def windows_of(queries: Mapping[str, Query]) -> int:
    """The longest window by time."""
    return max(
        (q.window.within for q in queries.values() if isinstance(q.window, TimeWindow)), default=0
    )
