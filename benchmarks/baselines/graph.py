"""Partial trends by the event in which they end (nodes) or by its state, slice by slice.

An event sums over all nodes that may come before it. Edges are gone through once and not stored.
What the events of a group of equal time create is read by none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from benchmarks.baselines.decoded import Decoded, Doubles, Ints, Mask
from benchmarks.baselines.gathered import Columns
from benchmarks.baselines.granularity import MOVES
from benchmarks.baselines.lanes import Lanes
from benchmarks.baselines.shared_slices import SharedEvents
from benchmarks.baselines.slices import Slices

# Sums in any order, so that they run in vector registers; infinities are kept. A largest value is
# of numbers that are none of them NaN.
_SUMS = {"reassoc", "nsz"}
_TOPS = {"reassoc", "nsz", "nnan"}


@dataclass(frozen=True)
class Found:
    slices: Slices
    totals: Doubles  #: [slice, count and lanes]
    nodes: Ints  #: that were made in each slice
    at_once: Ints  #: the most of them that a later event could have read


def aggregated(
    decoded: Decoded, lanes: Lanes, columns: Columns, coarse: Mask, shared: SharedEvents
) -> Found:
    events = columns.gathered(shared)
    slices = events.slices
    automaton = decoded.automaton
    found = Found(
        slices,
        np.empty((len(slices), len(lanes.nothing))),
        np.zeros(len(slices), np.int64),
        np.zeros(len(slices), np.int64),
    )
    _aggregate(
        (slices.begins, slices.ends),
        (events.time, events.state, events.values, events.left, events.right),
        (automaton.before, automaton.begins, automaton.ends, coarse),
        MOVES[decoded.query.semantics],
        columns.operators,
        columns.applies,
        lanes.nothing,
        1 + lanes.sums,
        events.room,
        (found.totals, found.nodes, found.at_once),
    )
    return found


@njit(cache=True)
def _aggregate(slices, events, automaton, moves, operators, applies, nothing, sums, room, found):
    time, state, values, left, right = events
    before, begins, ends, coarse = automaton
    totals, made, at_once = found
    states, width = len(begins), len(nothing)
    # States whose nodes are read one by one, those that are read as a whole, and for each the ones
    # that it reads: what a pattern has of neither costs an event nothing.
    kept = np.zeros(states, np.bool_)
    summed = np.zeros(states, np.bool_)
    froms = np.empty((states, states), np.int64)
    many = np.zeros(states, np.int64)
    for p in range(states):
        kept[p] = np.any(before[p] & ~coarse[p])
        summed[p] = np.any(before[p] & coarse[p])
        for t in range(states):
            if before[p, t]:
                froms[t, many[t]] = p
                many[t] += 1
    nodes = np.empty((states, width, room))
    compared = np.empty((states, len(operators), room))
    gone = np.zeros((states, room), np.bool_)
    picked = np.empty(room, np.bool_)
    whole = np.empty((states, width))
    fresh = np.empty((states, width))
    size = np.empty(states, np.int64)
    added = np.empty(states, np.int64)
    moved = np.zeros(states, np.bool_)
    touched = np.empty(states, np.int64)  # states to which a group did something
    row = np.empty(width)
    for place in range(len(slices[0])):
        for p in range(states):
            size[p] = added[p] = 0
            if summed[p]:
                _put(whole, p, nothing)
                _put(fresh, p, nothing)
        reach = 0
        _put(totals, place, nothing)
        at, last = slices[0][place], slices[1][place]
        while at < last:
            after = at
            touching = 0
            while after < last and time[after] == time[at]:
                event, t = after, state[after]
                after += 1
                if t < 0:
                    continue
                for w in range(width):
                    row[w] = nothing[w]
                row[0] = 1.0 if begins[t] else 0.0
                for n in range(many[t]):
                    p = froms[t, n]
                    if moves == 1 and not moved[p]:
                        moved[p] = True
                        if added[p] == 0:
                            touched[touching] = p
                            touching += 1
                    if coarse[p, t]:
                        _get(row, whole, p, sums)
                    elif size[p] == 0:
                        continue
                    elif _compare(p, t, compared, right, event, operators, applies, picked, size):
                        _get_picked(row, nodes, p, picked, size[p], sums)
                        for i in range(size[p] if moves == 1 else 0):
                            gone[p, i] |= picked[i]
                    else:
                        _get_all(row, nodes, p, size[p], sums)
                        for i in range(size[p] if moves == 1 else 0):
                            gone[p, i] = True
                if row[0] == 0.0:
                    continue
                for w in range(1, sums):
                    # Nothing times infinitely many is nothing.
                    if values[event, w - 1] != 0.0:
                        row[w] += values[event, w - 1] * row[0]
                for w in range(sums, width):
                    row[w] = max(row[w], values[event, w - 1])
                if ends[t]:
                    _add(totals, place, row, sums)
                if summed[t]:
                    _add(fresh, t, row, sums)
                if added[t] == 0 and not moved[t]:
                    touched[touching] = t
                    touching += 1
                made[place] += 1
                if kept[t]:
                    end = size[t] + added[t]
                    for w in range(width):
                        nodes[t, w, end] = row[w]
                    for c in range(len(operators)):
                        compared[t, c, end] = left[c, event]
                    added[t] += 1
                else:
                    added[t] = 1
            for n in range(states if moves == 2 else touching):
                p = n if moves == 2 else touched[n]
                if summed[p]:
                    if moves == 2 or moved[p]:
                        _put(whole, p, nothing)
                    _get_row(whole, p, fresh, sums)
                    _put(fresh, p, nothing)
                if kept[p]:
                    reach -= size[p]
                    _settle(nodes, compared, gone, size, added, p, moves, moved[p])
                    reach += size[p]
                added[p] = 0
                moved[p] = False
            at_once[place] = max(at_once[place], reach)
            at = after


@njit(cache=True, inline="always")
def _put(rows, place, row):
    for w in range(len(row)):
        rows[place, w] = row[w]


@njit(cache=True, inline="always")
def _add(rows, place, row, sums):
    for w in range(sums):
        rows[place, w] += row[w]
    for w in range(sums, len(row)):
        rows[place, w] = max(rows[place, w], row[w])


@njit(cache=True, inline="always")
def _get(row, rows, place, sums):
    for w in range(sums):
        row[w] += rows[place, w]
    for w in range(sums, len(row)):
        row[w] = max(row[w], rows[place, w])


@njit(cache=True, inline="always")
def _get_row(rows, place, others, sums):
    for w in range(sums):
        rows[place, w] += others[place, w]
    for w in range(sums, rows.shape[1]):
        rows[place, w] = max(rows[place, w], others[place, w])


@njit(cache=True)
def _get_all(row, nodes, p, size, sums):
    for w in range(sums):
        row[w] += _sum(nodes[p, w], size)
    for w in range(sums, len(row)):
        row[w] = max(row[w], _top(nodes[p, w], size))


@njit(cache=True)
def _get_picked(row, nodes, p, picked, size, sums):
    for w in range(sums):
        row[w] += _sum_picked(nodes[p, w], picked, size)
    for w in range(sums, len(row)):
        row[w] = max(row[w], _top_picked(nodes[p, w], picked, size))


@njit(cache=True, fastmath=_SUMS)
def _sum(numbers, size):
    found = 0.0
    for i in range(size):
        found += numbers[i]
    return found


@njit(cache=True, fastmath=_SUMS)
def _sum_picked(numbers, picked, size):
    found = 0.0
    for i in range(size):
        found += numbers[i] if picked[i] else 0.0
    return found


@njit(cache=True, fastmath=_TOPS)
def _top(numbers, size):
    found = -np.inf
    for i in range(size):
        found = numbers[i] if numbers[i] > found else found
    return found


@njit(cache=True, fastmath=_TOPS)
def _top_picked(numbers, picked, size):
    found = -np.inf
    for i in range(size):
        number = numbers[i] if picked[i] else -np.inf
        found = number if number > found else found
    return found


@njit(cache=True)
def _compare(p, t, compared, right, event, operators, applies, picked, size):
    """Which nodes meet the conditions; False where there is none, and nothing is written."""
    found = False
    for c in range(len(operators)):
        if applies[c, p, t]:
            if not found:
                for i in range(size[p]):
                    picked[i] = True
            found = True
            _narrow(operators[c], compared[p, c], right[c, event], picked, size[p])
    return found


@njit(cache=True)
def _narrow(operator, left, right, picked, size):
    """A null is NaN, of which no comparison is true."""
    if operator == 0:
        for i in range(size):
            picked[i] &= left[i] < right
    elif operator == 1:
        for i in range(size):
            picked[i] &= left[i] <= right
    elif operator == 2:
        for i in range(size):
            picked[i] &= left[i] > right
    elif operator == 3:
        for i in range(size):
            picked[i] &= left[i] >= right
    elif operator == 4:
        for i in range(size):
            picked[i] &= left[i] == right
    else:
        for i in range(size):
            picked[i] &= (left[i] < right) | (left[i] > right)


@njit(cache=True)
def _settle(nodes, compared, gone, size, added, p, moves, moved):
    """What a group added becomes readable, and what left is no longer."""
    old, new = size[p], added[p]
    if moves == 0 or (moves == 1 and not moved):
        size[p] = old + new
        return
    stay = 0
    for i in range(old if moves == 1 else 0):
        if not gone[p, i]:
            _shift(nodes, compared, p, i, stay)
            stay += 1
        gone[p, i] = False
    for i in range(old, old + new):
        _shift(nodes, compared, p, i, stay)
        stay += 1
    size[p] = stay


@njit(cache=True, inline="always")
def _shift(nodes, compared, p, i, to):
    if i != to:
        for w in range(nodes.shape[1]):
            nodes[p, w, to] = nodes[p, w, i]
        for c in range(compared.shape[1]):
            compared[p, c, to] = compared[p, c, i]
