"""Systems that take one query after the other: nothing is shared between queries."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pyarrow as pa

from benchmarks.baselines.answers import answer
from benchmarks.baselines.decoded import Decoded, Doubles, Ints, decoded
from benchmarks.baselines.lanes import Lanes
from benchmarks.baselines.system import Answers, Prepared, System
from runtime.language.query import Window, Workload


class Single(ABC):
    """One query over decoded events. Lives as long as its `Prepared`."""

    def __init__(self, decoded: Decoded) -> None:
        self.decoded = decoded
        self.lanes = Lanes.of(decoded)

    @abstractmethod
    def run(self) -> tuple[pa.Table, int]:
        """The answer, and the most bytes stored at a time."""

    def answer(self, window: Ints, slot: Ints, totals: Doubles) -> pa.Table:
        return answer(self.decoded, window, slot, self.lanes.restored(totals))


class Singly(Prepared):
    """All queries are there at the same time, so their bytes add up."""

    def __init__(self, singles: dict[str, Single]) -> None:
        self._singles = singles

    def run(self) -> Answers:
        found: Answers = {}
        self.state_bytes = 0
        for name, single in self._singles.items():
            found[name], stored = single.run()
            self.state_bytes += stored
        return found


class OneByOne(System):
    @abstractmethod
    def single(self, decoded: Decoded) -> Single:
        """Raises `Unsupported`."""

    def prepare(self, workload: Workload, table: pa.Table) -> Singly:
        each = decoded(workload, table)
        return Singly({one.query.name: self.single(one) for one in each})


def open_at_once(window: Window) -> int:
    """How many windows hold one time, at most."""
    return -(-window.within // window.slide)


def peak(window: Ints, stored: Ints, span: Window) -> int:
    """The most that is stored at a time, where window `window[i]` of some partition comes to
    `stored[i]`: all partitions together, and every window that is open as if it were full."""
    if not len(window):
        return 0
    numbers, place = np.unique(window, return_inverse=True)
    running = np.concatenate(([0.0], np.cumsum(np.bincount(place, stored))))
    oldest = np.searchsorted(numbers, numbers - open_at_once(span), side="right")
    return int((running[1:] - running[oldest]).max())
