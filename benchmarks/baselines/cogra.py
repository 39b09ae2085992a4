"""COGRA: aggregates as coarse as can be, one query at a time.

- Without adjacent conditions: one row of aggregates for each state, partition and window
  (`stream`). Under skip-till-next-match and contiguous these are rows that move. The paper's
  algorithm 3 keeps one for the whole pattern there; it is not exact by our semantics (it loses
  `(a1, b2, c4)` of `SEQ(A, B, C)` over `a1 b2 a3 c4`), this is, at the same cost.
- With them: events of the states that are compared are kept and gone through one by one, the
  other states have a row (`graph`).
"""

from __future__ import annotations

import pyarrow as pa

from benchmarks.baselines.decoded import Decoded
from benchmarks.baselines.gathered import Columns
from benchmarks.baselines.granularity import coarsest
from benchmarks.baselines.graph import aggregated
from benchmarks.baselines.one_by_one import OneByOne, Single
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.shared_slices import SharedEvents
from benchmarks.baselines.stream import Stream


class Coarse(Single):
    """All states by their type."""

    def __init__(self, decoded: Decoded) -> None:
        super().__init__(decoded)
        self._stream = Stream(decoded, self.lanes)

    def run(self, shared: SharedEvents) -> tuple[pa.Table, int]:
        found = self._stream.aggregated(shared)
        table = self.answer(found.window, found.slot, found.totals)
        stored = peak(found.visited, self._stream.row_bytes * found.rows, self.decoded.query.window)
        return table, stored


class Mixed(Single):
    """States that are compared by their events, others by their type."""

    def __init__(self, decoded: Decoded) -> None:
        super().__init__(decoded)
        self._columns = Columns(decoded, self.lanes)
        self._coarse = coarsest(decoded)

    def run(self, shared: SharedEvents) -> tuple[pa.Table, int]:
        found = aggregated(self.decoded, self.lanes, self._columns, self._coarse, shared)
        slices, width = found.slices, len(self.lanes.nothing)
        states = self.decoded.automaton.states
        node = width + len(self.decoded.adjacent)
        stored = 8 * (node * found.at_once + (1 + states) * width)
        table = self.answer(slices.window, slices.slot, found.totals)
        return table, peak(slices.window, stored, self.decoded.query.window)


class Cogra(OneByOne):
    name = "cogra"
    about = "keeps aggregates per state of a pattern, one query at a time"
    cannot = "NOT, &, LENGTH, HAVING, windows of events, a type twice in a pattern"
    generous = (
        "compiled; runs one window after the other, so that its rows stay in the cache; keeps "
        "compared events of a state side by side and sums them in vector registers"
    )

    def single(self, decoded: Decoded) -> Single:
        is_coarse = (coarsest(decoded) == decoded.automaton.before).all()
        return Coarse(decoded) if is_coarse else Mixed(decoded)
