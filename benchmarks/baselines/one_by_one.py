"""Systems that evaluate one query after the other.

Queries with the same partitions and window share only the division of the stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import pyarrow as pa

from benchmarks.baselines.answers import answer
from benchmarks.baselines.decoded import Decoded, Doubles, Ints, decoded
from benchmarks.baselines.lanes import Lanes
from benchmarks.baselines.shared_slices import QueryGroup, SharedEvents, query_groups
from benchmarks.baselines.system import Answers, Prepared, System
from runtime.language.query import Workload


class Single(ABC):
    """One query over decoded events. Lives as long as its `Prepared`."""

    def __init__(self, decoded: Decoded) -> None:
        self.decoded = decoded
        self.lanes = Lanes.of(decoded)

    @abstractmethod
    def run(self, shared: SharedEvents) -> tuple[pa.Table, int]:
        """The answer, and the most bytes stored at a time."""

    def answer(self, window: Ints, slot: Ints, totals: Doubles) -> pa.Table:
        return answer(self.decoded, window, slot, self.lanes.restored(totals))


class PreparedSingles(Prepared):
    """All queries are there at the same time, so their bytes add up."""

    def __init__(self, groups: Sequence[tuple[QueryGroup, Sequence[Single]]]) -> None:
        self._groups = groups

    def run(self) -> Answers:
        found: Answers = {}
        self.state_bytes = 0
        for group, singles in self._groups:
            shared = group.events()
            for single in singles:
                found[single.decoded.query.name], stored = single.run(shared)
                self.state_bytes += stored
        return found


class OneByOne(System):
    @abstractmethod
    def single(self, decoded: Decoded) -> Single:
        """Raises `Unsupported`."""

    def prepare(self, workload: Workload, table: pa.Table) -> PreparedSingles:
        groups = query_groups(decoded(workload, table))
        return PreparedSingles([(group, list(map(self.single, group.queries))) for group in groups])
