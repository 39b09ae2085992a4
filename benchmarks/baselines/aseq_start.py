"""A-Seq to the letter (sharon.txt III-B, equation 2): a count for each prefix of a pattern and each
START event. A new event updates the counts of all START events that are not expired; an END event
updates the final counts of all windows that it falls into. So an event costs as much as there are
START events in a window, however many windows overlap.

Kleene is flattened as in `aseq`. As quick as that allows: the counts of one prefix lie side by
side, so that an update runs in vector registers; prefixes that nothing matched yet are passed over;
an END event adds to the final counts, and the whole pattern has no count for each START event.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.baselines.answers import answer
from benchmarks.baselines.aseq import ASeq, Flattened, enough, nothing
from benchmarks.baselines.decoded import Codes, Decoded, Doubles, Ints
from benchmarks.baselines.elements import elements
from benchmarks.baselines.flattened import relevant, sequences
from benchmarks.baselines.kernel import inlined, kernel, summing
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.slices import Slices
from runtime.language.window import TimeWindow


class ASeqStart(ASeq):
    name = "a-seq-start"
    about = "like a-seq, with counts for each START event, as in its paper"
    generous = (
        "compiled; keeps the counts of a prefix side by side and updates them in vector registers; "
        "skips a flattened sequence in partitions with too few events for it"
    )

    def prepared(self, queries: list[Decoded]) -> Flattened:
        return _Prepared(queries)


class _Prepared(Flattened):
    def query(self, query: Decoded, found: Slices, has: Ints) -> pa.Table:
        parts, window = elements(query.query, ASeqStart.name), query.query.window
        totals = nothing(query, len(found))
        held = np.zeros(len(found), np.int64)
        picked, begins, ends = relevant(found.order, found.begins, found.ends, query.state >= 0)
        kept = query.state[picked]
        rooms: dict[int, int] = {}  # by the state of START events
        cuts = (
            np.flatnonzero(np.diff(found.slot, prepend=-1, append=-1)),
            begins,
            ends,
            found.window * window.slide,
            window.within,
        )
        events = query.time, picked, query.state, query.values, query.folds
        earliest = np.empty(len(found), np.int64)
        for repeats in sequences(parts, has.max(axis=0, initial=0)):
            before = np.concatenate(([0], np.cumsum(repeats)))
            start = int(np.flatnonzero(repeats)[0])
            if start not in rooms:
                rooms[start] = _most(kept == start, begins, ends)
            # Twice as much as there is at a time, so that what is not expired is seldom moved.
            room = before[-1], 2 * max(rooms[start], 1)
            counts, lanes = np.empty(room), np.empty((len(query.folds), *room))
            _count(
                np.array(repeats), before, has, events, cuts, earliest, totals, held, counts, lanes
            )
        # A START event is there once for all windows, a final count for each.
        stored = 8 * totals.shape[1]
        self.state_bytes += peak(found.window, stored * held, TimeWindow(1, 1))
        self.state_bytes += peak(found.window, np.full(len(found), stored), window)
        return answer(query, found.window, found.slot, totals)


def _most(marked: np.ndarray, begins: Ints, ends: Ints) -> int:
    """Of marked events, in a slice."""
    running = np.concatenate(([0], np.cumsum(marked)))
    return int((running[ends] - running[begins]).max(initial=0))


# ---- kernels -------------------------------------------------------------------------------

Events = tuple[Ints, Ints, Codes, Doubles, Codes]
Cuts = tuple[Ints, Ints, Ints, Ints, int]


@kernel
def _count(
    repeats: Ints,
    before: Ints,
    has: Ints,
    events: Events,
    cuts: Cuts,
    earliest: Ints,
    totals: Doubles,
    held: Ints,
    counts: Doubles,
    lanes: Doubles,
) -> None:
    """One sequence of fixed length. `counts[j, s]` is of the prefix of length j that begins with
    START event s; those lie in order of time, from `base` on. `earliest[i]`: the first START event
    of slice i."""
    time, picked, state, values, folds = events
    partitions, begins, ends, opens, within = cuts
    length = before[-1]
    for partition in range(len(partitions) - 1):
        low, high = partitions[partition], partitions[partition + 1]
        if not _begun(has, repeats, low, high):
            continue
        closed = opened = low  # the slices between them are open
        base = starts = reach = 0
        place = begins[low]
        while place < ends[high - 1]:
            now = time[picked[place]]
            after = place + 1
            while after < ends[high - 1] and time[picked[after]] == now:
                after += 1
            while opened < high and opens[opened] <= now:
                earliest[opened] = starts
                opened += 1
            while closed < opened and opens[closed] + within <= now:
                held[closed] += (starts - earliest[closed]) * (length - 1)
                closed += 1
            if closed < opened:
                # From the longest prefix down, so that each is read before it changes, also by
                # events of equal time.
                last = reach + 1
                top, least = 0, length
                for i in range(place, after):
                    s = state[picked[i]]
                    top = max(top, min(before[s + 1], last))
                    least = min(least, before[s] + 1)
                a, b = earliest[closed] - base, starts - base
                for j in range(top, least - 1, -1):
                    for i in range(place, after):
                        event = picked[i]
                        if not before[state[event]] < j <= before[state[event] + 1]:
                            continue
                        reach = max(reach, j)
                        if j == length:
                            _end(
                                j, event, values, folds, closed, opened, earliest, base, b, counts,
                                lanes, totals,
                            )  # fmt: skip
                        elif j > 1:
                            _update(j, a, b, event, values, folds, counts, lanes)
                if least == 1 and length > 1:
                    for i in range(place, after):
                        if before[state[picked[i]]] > 0 or before[state[picked[i]] + 1] == 0:
                            continue
                        if starts - base == counts.shape[1]:
                            _move(counts, lanes, earliest[closed] - base, starts - base)
                            base = earliest[closed]
                        _start(starts - base, picked[i], values, folds, counts, lanes)
                        starts += 1
            place = after
        for i in range(closed, opened):
            held[i] += (starts - earliest[i]) * (length - 1)


@inlined
def _begun(has: Ints, repeats: Ints, low: int, high: int) -> bool:
    for i in range(low, high):  # noqa: SIM110 (numba knows no `any`)
        if enough(has[i], repeats):
            return True
    return False


@kernel
def _start(
    s: int, event: int, values: Doubles, folds: Codes, counts: Doubles, lanes: Doubles
) -> None:
    for j in range(len(counts)):
        counts[j, s] = 1.0 if j == 1 else 0.0
    for n in range(len(folds)):
        for j in range(len(counts)):
            lanes[n, j, s] = 0.0 if folds[n] == 0 else (np.inf if folds[n] == 1 else -np.inf)
        lanes[n, 1, s] = values[n, event]


@kernel
def _move(counts: Doubles, lanes: Doubles, a: int, b: int) -> None:
    """What is not expired goes to the front."""
    for j in range(len(counts)):
        for s in range(a, b):
            counts[j, s - a] = counts[j, s]
            for n in range(len(lanes)):
                lanes[n, j, s - a] = lanes[n, j, s]


@kernel
def _update(
    j: int,
    a: int,
    b: int,
    event: int,
    values: Doubles,
    folds: Codes,
    counts: Doubles,
    lanes: Doubles,
) -> None:
    new, old = counts[j, a:b], counts[j - 1, a:b]
    for n in range(len(folds)):
        value = values[n, event]
        to, by = lanes[n, j, a:b], lanes[n, j - 1, a:b]
        if folds[n] == 0:
            for s in range(len(new)):
                to[s] += by[s] + value * old[s]
        elif folds[n] == 1:
            for s in range(len(new)):
                to[s] = min(to[s], min(by[s], value) if old[s] > 0.0 else np.inf)
        else:
            for s in range(len(new)):
                to[s] = max(to[s], max(by[s], value) if old[s] > 0.0 else -np.inf)
    for s in range(len(new)):
        new[s] += old[s]


@kernel
def _end(
    j: int,
    event: int,
    values: Doubles,
    folds: Codes,
    closed: int,
    opened: int,
    earliest: Ints,
    base: int,
    b: int,
    counts: Doubles,
    lanes: Doubles,
    totals: Doubles,
) -> None:
    """From the latest window to the earliest, which holds the START events of all later ones."""
    if j == 1:
        for i in range(closed, opened):
            _total(totals[i], 0, 0, 1.0)
            for n in range(len(folds)):
                _total(totals[i], n + 1, folds[n], values[n, event])
        return
    for n in range(-1, len(folds)):
        right, found = b, 0.0
        if n >= 0 and folds[n] > 0:
            found = np.inf if folds[n] == 1 else -np.inf
        for i in range(opened - 1, closed - 1, -1):
            left = earliest[i] - base
            old = counts[j - 1, left:right]
            if n < 0:
                found += _sum(old)
            elif folds[n] == 0:
                found += _sum(lanes[n, j - 1, left:right]) + values[n, event] * _sum(old)
            else:
                by = lanes[n, j - 1, left:right]
                for s in range(len(old)):
                    if old[s] > 0.0 and folds[n] == 1:
                        found = min(found, by[s], values[n, event])
                    elif old[s] > 0.0:
                        found = max(found, by[s], values[n, event])
            _total(totals[i], n + 1, 0 if n < 0 else folds[n], found)
            right = left


@inlined
def _total(total: Doubles, n: int, fold: int, value: float) -> None:
    if fold == 0:
        total[n] += value
    elif fold == 1:
        total[n] = min(total[n], value)
    else:
        total[n] = max(total[n], value)


@summing
def _sum(numbers: Doubles) -> float:
    total = 0.0
    for s in range(len(numbers)):
        total += numbers[s]
    return total
