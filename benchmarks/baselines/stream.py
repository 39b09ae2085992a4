"""Aggregates by state, event by event in order of time: nothing is sorted, no event is kept.

Each partition has one row of numbers:
- the time when it was last met, and the one before that;
- for each state when it was last met, and whether its partial trends left then;
- for the count and for each lane: the total, and two numbers for each state, `old` and `new`.
  Under skip-till-any-match, these are of the partial trends before the time when the state was
  last met, and of all. Under the others, which move them, of those before it and of those since.
Times are numbered as they come, so that they are exact as doubles.

One window is run after the other, over the events that it holds. Generous where windows overlap: a
system that hears an event once has the rows of all of them in its cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from benchmarks.baselines.decoded import NOWHERE, Decoded, Doubles, Ints
from benchmarks.baselines.granularity import MOVES
from benchmarks.baselines.lanes import Lanes
from benchmarks.baselines.shared_slices import SharedEvents


@dataclass(frozen=True)
class Flowed:
    window: Ints
    slot: Ints
    totals: Doubles
    visited: Ints  #: windows that had an event
    rows: Ints  #: how many partitions had one in each


class Stream:
    def __init__(self, decoded: Decoded, lanes: Lanes) -> None:
        self._decoded = decoded
        self._lanes = lanes
        self._moves = MOVES[decoded.query.semantics]
        automaton, states = decoded.automaton, decoded.automaton.states
        before = [np.flatnonzero(automaton.before[:, t]) for t in range(states)]
        self._automaton = (
            np.cumsum([0, *map(len, before)]),
            2 * np.concatenate(before).astype(np.uint64),
            automaton.begins,
            automaton.ends,
        )
        blocks = np.repeat(lanes.nothing, 1 + 2 * states)
        self._empty = np.concatenate([np.zeros(2 + 2 * states), blocks])

    @property
    def row_bytes(self) -> int:
        return self._empty.nbytes

    def aggregated(self, shared: SharedEvents) -> Flowed:
        decoded, window, moves = self._decoded, self._decoded.query.window, self._moves
        events = decoded.time, decoded.slot, decoded.state, self._lanes.values
        if 2 * len(shared.picked) < len(decoded.time):  # else it takes longer than it saves
            # Where they break contiguity, events of no state count, too.
            events = _picked(shared.picked, NOWHERE if moves == 2 else 0, *events)
        found = _flow(
            events,
            self._automaton,
            moves,
            window.within,
            window.slide,
            1 + self._lanes.sums,
            self._lanes.nothing,
            self._empty,
            decoded.slots,
        )
        return Flowed(*found)


_1, _2 = np.uint64(1), np.uint64(2)
_HEAD = _2


@njit(cache=True)
def _picked(chosen, least, time, slot, state, values):
    """The events of one query, so that others are passed over once and not once for each window."""
    own = np.empty(len(chosen), np.int64)
    size = 0
    for event in chosen:
        own[size] = event
        size += state[event] >= least
    own = own[:size]
    own_values = np.empty((size, values.shape[1]))
    for i in range(size):
        for w in range(values.shape[1]):
            own_values[i, w] = values[own[i], w]
    return time[own], slot[own], state[own], own_values


@njit(cache=True)
def _flow(events, automaton, moves, within, slide, sums, nothing, empty, slots):
    time, stride = events[0], len(empty)
    rows = np.zeros(slots * stride)
    met = np.empty(slots, np.int64)
    out = np.empty((64, len(nothing))), np.empty(64, np.int64), np.empty(64, np.int64)
    visited, counts = np.empty(64, np.int64), np.empty(64, np.int64)
    found = seen = begin = end = 0
    instant = 0.0
    while begin < len(time):
        # The first window that holds the event; it begins after those before.
        number = (time[begin] - within) // slide + 1
        if seen and number <= visited[seen - 1]:
            number = visited[seen - 1] + 1
        begin += np.searchsorted(time[begin:], number * slide)
        end += np.searchsorted(time[end:], number * slide + within)
        if seen == len(visited):
            visited = np.concatenate((visited, np.empty_like(visited)))
            counts = np.concatenate((counts, np.empty_like(counts)))
        if moves == 0:
            instant, meeting = _take(events, begin, end, automaton, sums, empty, rows, met, instant)
        else:
            instant, meeting = _move(
                events, begin, end, automaton, moves == 2, sums, nothing, empty, rows, met, instant
            )
        visited[seen], counts[seen] = number, meeting
        seen += 1
        out, found = _close(rows, stride, met[:meeting], number, out, found)
    return out[1][:found], out[2][:found], out[0][:found], visited[:seen], counts[:seen]


@njit(cache=True)
def _take(events, begin, end, automaton, sums, empty, rows, met, instant):
    """One window under skip-till-any-match. Gives how many partitions it met. Places are unsigned,
    since a place that could be negative would be looked at once more, every time."""
    time, slot, state, values = events
    froms, befores, begins, ends = automaton
    stride, states = np.uint64(len(empty)), np.uint64(len(begins))
    size = _1 + _2 * states
    opened = instant + 1.0
    meeting = 0
    now = time[begin] - 1 if begin < end else 0
    for event in range(begin, end):
        if state[event] < 0:
            continue
        t = np.uint64(state[event])
        if time[event] != now:
            now = time[event]
            instant += 1.0
        base = np.uint64(slot[event]) * stride
        if rows[base] < opened:
            for i in range(len(empty)):
                rows[base + np.uint64(i)] = empty[i]
            met[meeting] = slot[event]
            meeting += 1
        rows[base] = instant
        marks = base + _HEAD
        total = marks + _2 * states
        first, last, accepts = froms[t], froms[t + _1], ends[t]
        count = 1.0 if begins[t] else 0.0
        for i in range(first, last):
            p = befores[i]
            count += rows[total + _1 + p + np.uint64(rows[marks + p] < instant)]
        if count == 0.0:
            continue
        is_later = rows[marks + _2 * t] < instant
        own = total + _1 + _2 * t
        if is_later:
            rows[own] = rows[own + _1]
        rows[own + _1] += count
        if accepts:
            rows[total] += count
        for w in range(values.shape[1]):
            total += size
            own += size
            value = values[event, w]
            if is_later:
                rows[own] = rows[own + _1]
            if w + 1 < sums:
                # Nothing times infinitely many is nothing.
                new = value * count if value != 0.0 else 0.0
                for i in range(first, last):
                    p = befores[i]
                    new += rows[total + _1 + p + np.uint64(rows[marks + p] < instant)]
                rows[own + _1] += new
                if accepts:
                    rows[total] += new
            else:
                new = value
                for i in range(first, last):
                    p = befores[i]
                    new = max(new, rows[total + _1 + p + np.uint64(rows[marks + p] < instant)])
                rows[own + _1] = max(rows[own + _1], new)
                if accepts:
                    rows[total] = max(rows[total], new)
        rows[marks + _2 * t] = instant
    return instant, meeting


@njit(cache=True)
def _move(events, begin, end, automaton, is_contiguous, sums, nothing, empty, rows, met, instant):
    """One window under skip-till-next-match or contiguous."""
    time, slot, state, values = events
    froms, befores, begins, ends = automaton
    stride, states = np.uint64(len(empty)), np.uint64(len(begins))
    size = _1 + _2 * states
    opened = instant + 1.0
    meeting = 0
    now = time[begin] - 1 if begin < end else 0
    for event in range(begin, end):
        if state[event] < 0 and not is_contiguous:
            continue
        if time[event] != now:
            now = time[event]
            instant += 1.0
        base = np.uint64(slot[event]) * stride
        if rows[base] < opened:
            if state[event] < 0:
                continue
            for i in range(len(empty)):
                rows[base + np.uint64(i)] = empty[i]
            met[meeting] = slot[event]
            meeting += 1
        if rows[base] < instant:
            rows[base + _1] = rows[base]
            rows[base] = instant
        if state[event] < 0:
            continue
        t = np.uint64(state[event])
        total = base + _HEAD + _2 * states
        first, last, accepts = froms[t], froms[t + _1], ends[t]
        count = 1.0 if begins[t] else 0.0
        for i in range(first, last):
            p = befores[i]
            _settle(rows, base, p, size, instant, sums, nothing, is_contiguous)
            rows[base + _HEAD + p + _1] = 1.0
            count += rows[total + _1 + p]
        if count == 0.0:
            continue
        own = total + _2 + _2 * t
        _settle(rows, base, _2 * t, size, instant, sums, nothing, is_contiguous)
        rows[own] += count
        if accepts:
            rows[total] += count
        for w in range(values.shape[1]):
            total += size
            own += size
            value = values[event, w]
            if w + 1 < sums:
                new = value * count if value != 0.0 else 0.0
                for i in range(first, last):
                    new += rows[total + _1 + befores[i]]
                rows[own] += new
                if accepts:
                    rows[total] += new
            else:
                new = value
                for i in range(first, last):
                    new = max(new, rows[total + _1 + befores[i]])
                rows[own] = max(rows[own], new)
                if accepts:
                    rows[total] = max(rows[total], new)
    return instant, meeting


@njit(cache=True, inline="always")
def _settle(rows, base, p, size, instant, sums, nothing, is_contiguous):
    """A state met at a later time: what was new is old, and what left is gone. Where an event must
    follow at once, all is gone but what was new at the time just before."""
    mark = base + _HEAD + p
    if rows[mark] < instant:
        keeps_old = not is_contiguous and rows[mark + _1] == 0.0
        keeps_new = not is_contiguous or rows[mark] == rows[base + _1]
        old = base + _HEAD + size + p
        for w in range(len(nothing)):
            new = rows[old + _1] if keeps_new else nothing[w]
            if keeps_old:
                new = rows[old] + new if w < sums else max(rows[old], new)
            rows[old] = new
            rows[old + _1] = nothing[w]
            old += size
        rows[mark] = instant
        rows[mark + _1] = 0.0


@njit(cache=True)
def _close(rows, stride, met, number, out, found):
    """Writes the totals of a window."""
    totals, window, slot = out
    while found + len(met) > len(window):
        totals = np.concatenate((totals, np.empty_like(totals)))
        window = np.concatenate((window, np.empty_like(window)))
        slot = np.concatenate((slot, np.empty_like(slot)))
    width = totals.shape[1]
    states = (stride - 2 - width) // (2 + 2 * width)
    size = 1 + 2 * states
    for each in met:
        base = each * stride + 2 + 2 * states
        if rows[base] > 0.0:
            for w in range(width):
                totals[found, w] = rows[base + w * size]
            window[found], slot[found] = number, each
            found += 1
    return (totals, window, slot), found
