"""The slices of queries with the same partitions and the same window: found once for all of them,
while each query is still evaluated by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from benchmarks.baselines.decoded import NOWHERE, Decoded, Ints, Mask
from benchmarks.baselines.elements import together
from benchmarks.baselines.slices import Slices, cut
from runtime.language.query import Semantics


class QueryGroup:
    """Queries with the same slices. Finds the events that they need before the clock starts,
    as local conditions are evaluated there."""

    def __init__(self, queries: Sequence[Decoded]) -> None:
        self.queries = queries
        self._wanted: Mask = np.logical_or.reduce([each.state != NOWHERE for each in queries])
        if any(each.query.semantics is Semantics.CONTIGUOUS for each in queries):
            self._wanted = np.ones_like(self._wanted)

    def events(self) -> SharedEvents:
        return SharedEvents(self.queries[0], np.flatnonzero(self._wanted))


class SharedEvents:
    """Events in order of time. Lives for one run."""

    def __init__(self, one: Decoded, picked: Ints) -> None:
        self.picked = picked
        self._one = one

    @cached_property
    def slices(self) -> Slices:
        """Their `order` is of all events of the stream."""
        one = self._one
        found = cut(one.time.take(self.picked), one.slot.take(self.picked), one.query.window)
        return replace(found, order=self.picked.take(found.order))


def query_groups(queries: Sequence[Decoded]) -> list[QueryGroup]:
    """Contiguous queries need all events, others only those of their types."""
    found = []
    for group in together(queries):
        for is_contiguous in (False, True):
            some = [
                each
                for each in group
                if (each.query.semantics is Semantics.CONTIGUOUS) == is_contiguous
            ]
            if some:
                found.append(QueryGroup(some))
    return found
