"""A-Seq (Qi et al., SIGMOD 2014; sharon.txt III-B): sequences are counted as events come, with a
count for each prefix of a pattern. Kleene is flattened; nothing is shared, neither by queries nor
by the sequences that one query is flattened to.

Generous: A-Seq keeps a count for each prefix and START event, so that these expire one by one as a
window slides. Here each open window has a vector of its own, which costs as much for an event as
windows overlap, not as START events are in a window. And a flattened sequence is not begun in
slices that have too few events for it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.baselines.answers import answer
from benchmarks.baselines.decoded import NOTHING, Decoded, Doubles, Ints, decoded
from benchmarks.baselines.elements import elements, together
from benchmarks.baselines.flattened import longest, relevant, sequences
from benchmarks.baselines.kernel import inlined, kernel
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.slices import Slices, slices
from benchmarks.baselines.system import Answers, Prepared, System
from runtime.language.query import Workload


class ASeq(System):
    name = "a-seq"
    about = "keeps counts of prefixes; flattens Kleene to sequences of every length"
    cannot = "nested Kleene, P | Q, adjacent conditions, semantics other than skip-till-any-match"
    generous = (
        "compiled; one vector of counts per window, not one per START event; skips a flattened "
        "sequence if there are too few events for it"
    )

    def prepare(self, workload: Workload, table: pa.Table) -> Prepared:
        for query in workload:
            elements(query, self.name)
        return self.prepared(decoded(workload, table))

    def prepared(self, queries: list[Decoded]) -> Prepared:
        return Flattened(queries)


class Flattened(Prepared):
    """One query after the other, one flattened sequence of it after the other."""

    def __init__(self, queries: list[Decoded]) -> None:
        self._groups = together(queries)
        self._lengths: dict[str, Ints] = {}
        for group in self._groups:
            found = slices(group[0])
            self._lengths |= {each.query.name: longest(each, found) for each in group}

    def run(self) -> Answers:
        answers = {}
        self.state_bytes = 0
        for group in self._groups:
            found = slices(group[0])
            for each in group:
                has = self._lengths[each.query.name]
                answers[each.query.name] = self.query(each, found, has)
        return answers

    def query(self, query: Decoded, found: Slices, has: Ints) -> pa.Table:
        """`has`: as `longest` finds it."""
        parts = elements(query.query, ASeq.name)
        most = has.max(axis=0, initial=0)
        totals = nothing(query, len(found))
        counters = np.zeros(len(found), np.int64)
        picked, begins, ends = relevant(found.order, found.begins, found.ends, query.state >= 0)
        given = query.time, picked, begins, ends, query.state, has, query.values, query.folds
        for repeats in sequences(parts, most):
            _sequence(np.array(repeats), *given, totals, counters)
        held = counters * totals.itemsize * totals.shape[1]
        self.state_bytes += peak(found.window, held, query.query.window)
        return answer(query, found.window, found.slot, totals)


def nothing(query: Decoded, count: int) -> Doubles:
    """Totals of so many slices, before the first trend."""
    row = [0.0, *(NOTHING[lane.fold] for lane in query.query.lanes)]
    return np.tile(np.array(row), (count, 1))


# ---- kernels -------------------------------------------------------------------------------


def _sequence(repeats, *given):
    """One sequence of fixed length in every slice. `counts[j]` is of the prefix of length j."""
    before = np.concatenate(([0], np.cumsum(repeats)))  # positions in front of an element
    lanes, length = len(given[-3]), before[-1]
    counts = np.empty(length + 1), np.empty((lanes, length + 1))
    old = np.empty(length + 1), np.empty((lanes, length + 1))
    _count(repeats, before, *given, *counts, *old)


@kernel
def _count(
    repeats,
    before,
    time,
    picked,
    begins,
    ends,
    state,
    has,
    values,
    folds,
    totals,
    counters,
    counts,
    lanes,
    old_counts,
    old_lanes,
):
    length = before[-1]
    for i in range(len(begins)):
        if not enough(has[i], repeats):
            continue
        counters[i] += length
        _clear(counts, lanes, folds)
        reach = 0  # the longest prefix that has a match
        place = begins[i]
        while place < ends[i]:
            event = picked[place]
            after = place + 1
            while after < ends[i] and time[picked[after]] == time[event]:
                after += 1
            if after == place + 1:
                low = before[state[event]] + 1
                high = min(before[state[event] + 1], reach + 1)
                if low <= high:
                    _step(counts, lanes, values, folds, event, low, high)
                    reach = max(reach, high)
            else:  # of equal time: all of them go by the counts from before the first
                _keep(counts, lanes, old_counts, old_lanes, reach)
                last = reach + 1
                for tied in picked[place:after]:
                    low = before[state[tied]] + 1
                    high = min(before[state[tied] + 1], last)
                    if low <= high:
                        old = old_counts, old_lanes
                        _step_from(counts, lanes, *old, values, folds, tied, low, high)
                        reach = max(reach, high)
            place = after
        if reach == length:
            _add(counts, lanes, folds, totals[i])


@inlined
def enough(has, repeats):
    for e in range(len(repeats)):  # noqa: SIM110 (numba knows no `all`)
        if has[e] < repeats[e]:
            return False
    return True


@kernel
def _keep(counts, lanes, old_counts, old_lanes, reach):
    for j in range(reach + 1):
        old_counts[j] = counts[j]
        for n in range(len(lanes)):
            old_lanes[n, j] = lanes[n, j]


@inlined
def _clear(counts, lanes, folds):
    counts[:] = 0.0
    counts[0] = 1.0
    for n in range(len(folds)):
        lanes[n] = 0.0 if folds[n] == 0 else (np.inf if folds[n] == 1 else -np.inf)


@inlined
def _step(counts, lanes, values, folds, event, low, high):
    """From the longest prefix down, so that each is read before it changes."""
    for n in range(len(folds)):
        value = values[n, event]
        lane = lanes[n]
        if folds[n] == 0:
            for j in range(high, low - 1, -1):
                lane[j] += lane[j - 1] + value * counts[j - 1]
        elif folds[n] == 1:
            for j in range(high, low - 1, -1):
                lane[j] = min(lane[j], lane[j - 1], value)
        else:
            for j in range(high, low - 1, -1):
                lane[j] = max(lane[j], lane[j - 1], value)
    for j in range(high, low - 1, -1):
        counts[j] += counts[j - 1]


@kernel
def _step_from(counts, lanes, old_counts, old_lanes, values, folds, event, low, high):
    for n in range(len(folds)):
        value = values[n, event]
        for j in range(low, high + 1):
            if folds[n] == 0:
                lanes[n, j] += old_lanes[n, j - 1] + value * old_counts[j - 1]
            elif folds[n] == 1:
                lanes[n, j] = min(lanes[n, j], old_lanes[n, j - 1], value)
            else:
                lanes[n, j] = max(lanes[n, j], old_lanes[n, j - 1], value)
    for j in range(low, high + 1):
        counts[j] += old_counts[j - 1]


@inlined
def _add(counts, lanes, folds, total):
    total[0] += counts[-1]
    for n in range(len(folds)):
        if folds[n] == 0:
            total[n + 1] += lanes[n, -1]
        elif folds[n] == 1:
            total[n + 1] = min(total[n + 1], lanes[n, -1])
        else:
            total[n + 1] = max(total[n + 1], lanes[n, -1])
