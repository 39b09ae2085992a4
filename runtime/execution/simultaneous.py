"""Groups events of one partition with equal instants: they are never adjacent in a trend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Ints
from runtime.execution.jit import cached_njit

Small = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SimultaneousGroups:
    """`group` is 0 for an event alone in its instant, 1 for the first of a group, -1 for the
    others; `follower` is the row of the group's next event, or -1."""

    group: npt.NDArray[np.int8]
    follower: Small

    @cached_property
    def longest(self) -> int:
        """The events of the largest group."""
        return int(_longest(self.group, self.follower)) if len(self.follower) else 1


class GroupFinder:
    """Finds the groups of a batch. Most batches have none, which is cheap to check."""

    def __init__(self) -> None:
        self._stamp = np.zeros(0, np.int64)
        self._tail = np.zeros(0, np.int32)
        self._runs = 0
        self._none = SimultaneousGroups(np.zeros(0, np.int8), np.zeros(0, np.int32))

    def groups(self, instants: Ints, slots: Small, capacity: int) -> SimultaneousGroups:
        size = len(instants)
        if not _any_equal(instants):
            if len(self._none.group) < size:
                self._none = SimultaneousGroups(np.zeros(size, np.int8), np.zeros(0, np.int32))
            return self._none
        if len(self._stamp) < capacity:
            self._stamp = np.concatenate(
                [self._stamp, np.zeros(capacity - len(self._stamp), np.int64)]
            )
            self._tail = np.zeros(capacity, np.int32)
        groups = SimultaneousGroups(np.zeros(size, np.int8), np.full(size, -1, np.int32))
        self._runs = _link(
            instants, slots, self._stamp, self._tail, self._runs, groups.group, groups.follower
        )
        return groups


@cached_njit
def _any_equal(instants: Ints) -> bool:
    """Reads all of them, since LLVM vectorizes a loop without an early exit."""
    equal = 0
    for i in range(np.uintp(1), np.uintp(len(instants))):
        equal += instants[i] == instants[i - np.uintp(1)]
    return equal > 0


@cached_njit
def _link(
    instants: Ints,
    slots: Small,
    stamp: Ints,
    tail: Small,
    run: int,
    group: npt.NDArray[np.int8],
    follower: Small,
) -> int:
    """Links the events of each partition and instant. A stamp records the run of equal instants
    in which a partition last occurred, so nothing has to be cleared between runs."""
    for i in range(len(instants)):
        if i == 0 or instants[i] != instants[i - 1]:
            run += 1
        s = slots[i]
        if stamp[s] == run:
            last = tail[s]
            if group[last] == 0:
                group[last] = 1
            group[i] = -1
            follower[last] = i
        stamp[s] = run
        tail[s] = i
    return run


@cached_njit
def _longest(group: npt.NDArray[np.int8], follower: Small) -> int:
    longest = 1
    for first in range(len(follower)):
        if group[first] > 0:
            size, i = 1, follower[first]
            while i >= 0:
                size += 1
                i = follower[i]
            longest = max(longest, size)
    return longest
