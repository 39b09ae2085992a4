"""Numbers the events of each partition, for windows that count events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Ints, Mask
from runtime.execution.jit import cached_njit

Slots = npt.NDArray[np.int32]


class EventOrdinals(NamedTuple):
    """The index of the first counted event of a batch, and the ordinal of each event from it on."""

    first: int
    ordinals: Ints


class EventCounter:
    """Counts all events of each slot from a time on."""

    def __init__(self, since: int) -> None:
        self.since = since
        self._counts = np.zeros(0, np.int64)

    def count(self, times: Ints, slots: Slots, capacity: int) -> EventOrdinals:
        """Counts the events of a batch, which are in order of time."""
        counts = self.counts(capacity)
        first = int(np.searchsorted(times, self.since))
        ordinals = np.empty(len(slots), np.int64)
        _count(first, slots, counts, ordinals)
        return EventOrdinals(first, ordinals)

    def counts(self, capacity: int) -> Ints:
        """The events of each slot so far."""
        missing = capacity - len(self._counts)
        if missing > 0:
            more = np.zeros(max(missing, len(self._counts)), np.int64)
            self._counts = np.concatenate([self._counts, more])
        return self._counts

    def load(self, counts: Ints) -> None:
        self._counts = counts.copy()

    def live(self, capacity: int) -> Mask:
        known: Mask = self.counts(capacity)[:capacity] > 0
        return known


@cached_njit
def _count(first: int, slots: Slots, counts: Ints, ordinals: Ints) -> None:
    for i in range(first, len(slots)):
        slot = np.uintp(slots[i])
        ordinals[i] = counts[slot]
        counts[slot] += 1
