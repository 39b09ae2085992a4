"""MCEP over slices: trends of the core one by one, and what each query joins to them.

A **walk** is a depth-first search over a list of events in order of time, those of some successive
states. What comes before the core is walked backwards in time, so that its list and its states are
in reverse order. `after[i]` is the first event of the list that has another time than event i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.baselines.decoded import Doubles, Ints
from benchmarks.baselines.kernel import inlined, kernel

SUM, MIN = 0, 1
#: What a stored event takes: itself, its state, and where its list goes on after it. And a pointer.
EVENT, POINTER = 24, 8
#: What is known of the events of a list: the event, its state from the list's first on, `after`.
LIST = 3


def run(
    time: Ints, picked: Ints, begins: Ints, ends: Ints, arrays: Any, totals: Doubles, held: Ints
) -> None:
    """Adds what each query has in each slice to `totals`, and the bytes it took to `held`."""
    states, folds, core_folds = arrays[0], arrays[6], arrays[8]
    queries, lanes = folds.shape
    most = int((ends - begins).max(initial=0))
    listed = np.concatenate(([0], np.cumsum((states >= 0).sum(axis=0)[picked])))
    walk = (np.empty(most + 1, np.int64), np.empty((most + 1, lanes)), np.empty(lanes))
    scratch = (
        np.empty((LIST, most), np.int64),  # the core's list
        np.empty((LIST, int((listed[ends] - listed[begins]).max(initial=0))), np.int64),
        np.empty((queries, 3), np.int64),  # where the lists of each query begin and end
        np.empty((2, queries, most), np.int64),  # where they are entered from an event of the core
        np.empty(queries, np.int64),  # those that can have trends
        np.empty(lanes),
        np.empty(most + 1, np.int64),
        np.empty((most + 1, len(core_folds))),
        walk + tuple(each.copy() for each in walk),
    )
    _run(time, picked, begins, ends, *arrays, totals, held, *scratch)


@kernel
def _run(
    time,
    picked,
    begins,
    ends,
    states,
    places,
    lengths,
    length,
    repeated,
    widths,
    folds,
    adds,
    core_folds,
    core_adds,
    core_of,
    values,
    totals,
    held,
    core,
    listed,
    bounds,
    entries,
    active,
    base,
    top,
    carried,
    scratch,
):
    """`states[q, event]`; the core of query q begins in state `places[q]` and has `length` states.
    The lists of queries lie one after the other: what is before the core, what is behind it."""
    queries = len(places)
    again = repeated[0, places[0] : places[0] + length]
    for i in range(len(begins)):
        inside = picked[begins[i] : ends[i]]
        count = _listed(time, inside, states[0], places[0], places[0] + length, 1, core)
        if count == 0:
            continue
        actives, stored = 0, 0
        for q in range(queries):
            here, after = places[q], places[q] + length
            bound = bounds[q]
            bound[0] = stored
            bound[1] = stored + _listed(time, inside, states[q], 0, here, -1, listed[:, stored:])
            rest = listed[:, bound[1] :]
            bound[2] = bound[1] + _listed(time, inside, states[q], after, lengths[q], 1, rest)
            if (here and bound[0] == bound[1]) or (after < lengths[q] and bound[1] == bound[2]):
                continue  # it has no trends here
            _enter(time, core[0, :count], listed[0, bound[0] : bound[1]], -1, entries[0, q])
            _enter(time, core[0, :count], listed[0, bound[1] : bound[2]], 1, entries[1, q])
            active[actives] = q
            actives += 1
            stored = bound[2]
        deepest = 0
        depth = _next(core[1, :count], core[2], top, -1, 0, again, 0, 1)
        while depth >= 0:
            at = top[depth]
            event, state = core[0, at], core[1, at]
            for n in range(len(core_folds)):
                row = core_adds[n, state]
                _carry(carried, depth, n, core_folds[n], row, event, values)
            if state == length - 1:
                for q in active[:actives]:
                    for n in range(widths[q]):
                        lane = core_of[q, n]
                        base[n] = _nothing(folds[q, n]) if lane < 0 else carried[depth, lane]
                    joined = _join(
                        listed[:, bounds[q, 0] : bounds[q, 1]],
                        listed[:, bounds[q, 1] : bounds[q, 2]],
                        entries[0, q, top[0]],
                        entries[1, q, at],
                        places[q],
                        places[q] + length,
                        lengths[q],
                        repeated[q],
                        folds[q],
                        adds[q],
                        widths[q],
                        values,
                        base,
                        scratch,
                        totals[q, i],
                    )
                    deepest = max(deepest, depth + 1 + joined)
            depth = _next(core[1, :count], core[2], top, depth, 0, again, 0, 1)
        held[i] = EVENT * (count + stored) + POINTER * (2 * actives * count + deepest)


# ---- lists ---------------------------------------------------------------------------------


@kernel
def _listed(time, inside, states, low, high, way, found):
    """Lists the events in states from `low` to before `high`, forwards or backwards (`way`)."""
    count = 0
    for place in range(len(inside)):
        event = inside[place] if way > 0 else inside[len(inside) - 1 - place]
        state = states[event]
        if low <= state < high:
            found[0, count] = event
            found[1, count] = state - low if way > 0 else high - 1 - state
            count += 1
    following = count
    for place in range(count - 1, -1, -1):
        if place < count - 1 and time[found[0, place]] != time[found[0, place + 1]]:
            following = place + 1
        found[2, place] = following
    return count


@kernel
def _enter(time, events, listed, way, entries):
    """For each event of the core the first of a list that is before (or behind) it."""
    for place in range(len(events)):
        low, high = 0, len(listed)
        while low < high:
            middle = (low + high) // 2
            if way * (time[listed[middle]] - time[events[place]]) > 0:
                high = middle
            else:
                low = middle + 1
        entries[place] = low


# ---- the search ----------------------------------------------------------------------------


@inlined
def _next(state, after, top, depth, begin, repeated, base, way):
    """The next partial match: one event longer, or with another last event, or shorter."""
    at, last = begin, -1
    if depth >= 0:
        at, last = after[top[depth]], state[top[depth]]
    while True:
        again = last if last >= 0 and repeated[base + way * last] else -2
        while at < len(state):
            if state[at] == last + 1 or state[at] == again:
                top[depth + 1] = at
                return depth + 1
            at += 1
        if depth < 0:
            return -1
        at = top[depth] + 1
        depth -= 1
        last = state[top[depth]] if depth >= 0 else -1


@kernel
def _join(
    before,
    behind,
    enter_before,
    enter_behind,
    place,
    after,
    length,
    repeated,
    folds,
    adds,
    width,
    values,
    base,
    scratch,
    total,
):
    """Every trend of a query that has a given trend of the core. Gives the most events of the
    query's own in one of them."""
    if place == 0:
        return _end(
            behind, enter_behind, after, length, repeated, folds, adds, width, values, base,
            scratch, total,
        )  # fmt: skip
    top, carried, both = scratch[:3]
    deepest = 0
    events, state, following = before[0], before[1], before[2]
    depth = _next(state, following, top, -1, enter_before, repeated, place - 1, -1)
    while depth >= 0:
        at = top[depth]
        for n in range(width):
            row = adds[n, place - 1 - state[at]]
            _carry(carried, depth, n, folds[n], row, events[at], values)
        if state[at] == place - 1:
            for n in range(width):
                both[n] = _folded(folds[n], base[n], carried[depth, n])
            joined = _end(
                behind, enter_behind, after, length, repeated, folds, adds, width, values, both,
                scratch, total,
            )  # fmt: skip
            deepest = max(deepest, depth + 1 + joined)
        depth = _next(state, following, top, depth, enter_before, repeated, place - 1, -1)
    return deepest


@kernel
def _end(
    behind, enter, after, length, repeated, folds, adds, width, values, base, scratch, total
):  # fmt: skip
    """The same, where what comes before the core is given, too."""
    if after == length:
        _aggregate(total, folds, width, base)
        return 0
    top, carried, whole = scratch[3:]
    deepest = 0
    events, state, following = behind[0], behind[1], behind[2]
    depth = _next(state, following, top, -1, enter, repeated, after, 1)
    while depth >= 0:
        at = top[depth]
        for n in range(width):
            _carry(carried, depth, n, folds[n], adds[n, after + state[at]], events[at], values)
        if state[at] == length - after - 1:
            for n in range(width):
                whole[n] = _folded(folds[n], base[n], carried[depth, n])
            _aggregate(total, folds, width, whole)
            deepest = max(deepest, depth + 1)
        depth = _next(state, following, top, depth, enter, repeated, after, 1)
    return deepest


@inlined
def _aggregate(total, folds, width, trend):
    total[0] += 1.0
    for n in range(width):
        total[n + 1] = _folded(folds[n], total[n + 1], trend[n])


# ---- lanes ---------------------------------------------------------------------------------


@inlined
def _carry(carried, depth, n, fold, row, event, values):
    """What a lane has of the events up to this depth."""
    so_far = carried[depth - 1, n] if depth > 0 else _nothing(fold)
    carried[depth, n] = so_far if row < 0 else _folded(fold, so_far, values[row, event])


@inlined
def _folded(fold, one, other):
    if fold == SUM:
        return one + other
    return min(one, other) if fold == MIN else max(one, other)


@inlined
def _nothing(fold):
    return 0.0 if fold == SUM else (np.inf if fold == MIN else -np.inf)
