"""GRETA: a graph of events, one query at a time.

Every matched event is a node, with the aggregates of the partial trends that end there; a new one
sums over all its predecessors, so a slice costs the square of its events. Generous to it: nodes of
a state lie side by side, and where no adjacent condition stands between two states the sum over
them runs in vector registers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.baselines.decoded import Decoded
from benchmarks.baselines.gathered import Columns
from benchmarks.baselines.graph import aggregated
from benchmarks.baselines.one_by_one import OneByOne, Single
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.shared_slices import SharedEvents
from benchmarks.baselines.system import Unsupported
from runtime.language.query import Semantics


class Graph(Single):
    def __init__(self, decoded: Decoded) -> None:
        super().__init__(decoded)
        self._columns = Columns(decoded, self.lanes)
        self._coarse = np.zeros_like(decoded.automaton.before)

    def run(self, shared: SharedEvents) -> tuple[pa.Table, int]:
        found = aggregated(self.decoded, self.lanes, self._columns, self._coarse, shared)
        window, slot = found.slices.window, found.slices.slot
        # A node for each window, with its time and what is compared; a total for each slice.
        row = 1 + len(self.lanes.nothing) + len(self.decoded.adjacent)
        stored = 8 * (row * found.nodes + len(self.lanes.nothing))
        table = self.answer(window, slot, found.totals)
        return table, peak(window, stored, self.decoded.query.window)


class EventGrained(OneByOne):
    """What cogra.txt compares with under the other semantics: all matched events are stored, but
    only those are gone through that a new event can still extend."""

    name = "event-grained"
    about = "keeps aggregates per matched event, one query at a time, under all semantics"
    cannot = "NOT, &, LENGTH, HAVING, windows of events, a type twice in a pattern"
    generous = (
        "compiled; divides the stream once for similar queries; keeps the nodes of a state side by "
        "side and sums them in vector registers; visits edges once and does not store them"
    )

    def single(self, decoded: Decoded) -> Graph:
        return Graph(decoded)


class Greta(EventGrained):
    name = "greta"
    about = "builds a graph of matched events with their aggregates, one query at a time"
    cannot = f"semantics other than skip-till-any-match; {EventGrained.cannot}"

    def single(self, decoded: Decoded) -> Graph:
        query = decoded.query
        if query.semantics is not Semantics.ANY:
            raise Unsupported(
                f"query `{query.name}`: GRETA knows skip-till-any-match, "
                f"not {query.semantics.value}"
            )
        return Graph(decoded)
