"""SASE: two steps. Events go to stacks, with pointers to those that may come before them; then a
depth-first search builds every trend, and each is aggregated.

One trend is there at a time, and nothing is allocated for it: the aggregates of its end ride along
on the stack. Generous to it:
- An event without a predecessor that does not begin a trend is not stored, so that no path ends in
  nothing.
- Where no adjacent condition chooses among the events of a state, those that may come before are a
  run of its stack: a pointer to the first and one to the last, however many they are.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

from benchmarks.baselines.decoded import Decoded
from benchmarks.baselines.gathered import Columns
from benchmarks.baselines.granularity import MOVES, coarsest
from benchmarks.baselines.one_by_one import OneByOne, Single
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.shared_slices import SharedEvents


class TwoStep(Single):
    def __init__(self, decoded: Decoded) -> None:
        super().__init__(decoded)
        self._columns = Columns(decoded, self.lanes)
        self._runs = coarsest(decoded)

    def run(self, shared: SharedEvents) -> tuple[pa.Table, int]:
        decoded, automaton = self.decoded, self.decoded.automaton
        events = self._columns.gathered(shared)
        slices = events.slices
        totals = np.empty((len(slices), len(self.lanes.nothing)))
        stored = np.zeros(len(slices), np.int64)
        _aggregate(
            (slices.begins, slices.ends),
            (events.time, events.state, events.values, events.left, events.right),
            (automaton.before, automaton.begins, automaton.ends, self._runs),
            MOVES[decoded.query.semantics],
            self._columns.operators,
            self._columns.applies,
            (self.lanes.nothing, 1 + self.lanes.sums),
            events.room,
            totals,
            stored,
        )
        table = self.answer(slices.window, slices.slot, totals)
        return table, peak(slices.window, stored, decoded.query.window)


class Sase(OneByOne):
    name = "sase"
    about = "builds every trend by depth-first search, then aggregates it, one query at a time"
    cannot = "NOT, &, LENGTH, HAVING, windows of events, a type twice in a pattern"
    generous = (
        "compiled; keeps events and one trend at a time, together with its aggregates; two "
        "pointers cover a run of events; no path is a dead end"
    )

    def single(self, decoded: Decoded) -> TwoStep:
        return TwoStep(decoded)


@njit(cache=True)
def _aggregate(slices, events, automaton, moves, operators, applies, lanes, room, totals, stored):
    """`stored[slice]`: bytes of events with time, lanes and what is compared; of pointers; of the
    longest trend with its aggregates."""
    nothing, sums = lanes
    states, width = len(automaton[1]), len(nothing)
    # A node is a place in the stack of its state: p * room + its height.
    event_of = np.empty(states * room, np.int64)
    low = np.empty((states * room, states), np.int64)
    high = np.empty((states * room, states), np.int64)
    chosen = np.empty(64, np.int64)
    height = np.empty(states, np.int64)
    trend = np.empty((room, 4), np.int64)
    rows = np.empty((room, width))
    for place in range(len(slices[0])):
        bounds = slices[0][place], slices[1][place]
        chosen, pointers = _point(
            bounds, events, automaton, moves, operators, applies, room, event_of, low, high,
            chosen, height,
        )  # fmt: skip
        totals[place] = nothing
        longest = _search(
            events[2], automaton, room, event_of, low, high, chosen, height, trend, rows, sums,
            totals[place],
        )  # fmt: skip
        node = width + len(operators)
        stored[place] = 8 * (height.sum() * node + pointers + longest * (1 + width) + width)


@njit(cache=True)
def _point(
    bounds, events, automaton, moves, operators, applies, room, event_of, low, high, chosen, height
):
    """The first step: stacks and pointers. Gives how many pointers there are."""
    time, state, _, left, right = events
    before, begins, _, runs = automaton
    states = len(begins)
    at, last = bounds
    most = last - at if moves == 1 else 0
    height[:] = 0
    settled = np.zeros(states, np.int64)  # heights before the time of the group
    oldest = np.zeros(states, np.int64)  # what can still be extended: from here on,
    spots = np.empty((states, most), np.int64)  # or these heights, where
    openings = np.zeros(states, np.int64)  # a condition chooses
    gone = np.zeros((states, most), np.bool_)
    moved = np.zeros(states, np.bool_)
    used = pointers = 0
    while at < last:
        after = at
        while after < last and time[after] == time[at]:
            event, t = after, state[after]
            after += 1
            if t < 0:
                continue
            node = t * room + height[t]
            is_some = begins[t]
            for p in range(states):
                low[node, p] = high[node, p] = 0
                if not before[p, t]:
                    continue
                moved[p] = True
                if runs[p, t]:
                    low[node, p], high[node, p] = p * room + oldest[p], p * room + settled[p]
                    pointers += 2
                else:
                    low[node, p] = used
                    first, end = oldest[p], settled[p]
                    if moves == 1:
                        first, end = 0, openings[p]
                    for i in range(first, end):
                        spot = spots[p, i] if moves == 1 else i
                        earlier = event_of[p * room + spot]
                        if _meets(p, t, earlier, event, left, right, operators, applies):
                            if used == len(chosen):
                                chosen = np.concatenate((chosen, np.empty_like(chosen)))
                            chosen[used] = p * room + spot
                            used += 1
                            if moves == 1:
                                gone[p, i] = True
                    high[node, p] = used
                    pointers += used - low[node, p]
                is_some |= low[node, p] < high[node, p]
            if is_some:
                event_of[node] = event
                height[t] += 1
        for p in range(states):
            if moves == 2 or (moves == 1 and moved[p]):
                oldest[p] = settled[p]
            if moves == 1:
                openings[p] = _still_open(spots[p], gone[p], openings[p], moved[p])
                for i in range(settled[p], height[p]):
                    spots[p, openings[p]] = i
                    openings[p] += 1
            settled[p] = height[p]
            moved[p] = False
        at = after
    return chosen, pointers


@njit(cache=True)
def _still_open(spots, gone, openings, moved):
    """Heights of what was not extended."""
    if not moved:
        return openings
    stay = 0
    for i in range(openings):
        if not gone[i]:
            spots[stay] = spots[i]
            stay += 1
        gone[i] = False
    return stay


@njit(cache=True)
def _meets(p, t, earlier, event, left, right, operators, applies):
    for c in range(len(operators)):
        if applies[c, p, t]:
            a, b = left[c, earlier], right[c, event]
            if operators[c] == 0:
                holds = a < b
            elif operators[c] == 1:
                holds = a <= b
            elif operators[c] == 2:
                holds = a > b
            elif operators[c] == 3:
                holds = a >= b
            elif operators[c] == 4:
                holds = a == b
            else:
                holds = (a < b) | (a > b)
            if not holds:
                return False
    return True


@njit(cache=True)
def _search(values, automaton, room, event_of, low, high, chosen, height, trend, rows, sums, total):
    """The second step, from each event that may end a trend back to all that may begin it. Gives
    the length of the longest. `trend[d]` is a node, its state, the state whose stack it looks at
    for the next, and how far it is there."""
    _, begins, ends, runs = automaton
    states = len(begins)
    longest = 0
    for t in range(states):
        if not ends[t]:
            continue
        for node in range(t * room, t * room + height[t]):
            depth, here, at_state = 0, node, t
            while True:
                # One more event in the trend, which is whole if it may begin one.
                event = event_of[here]
                for w in range(1, sums):
                    value = values[event, w - 1]
                    rows[depth, w] = value + rows[depth - 1, w] if depth else value
                for w in range(sums, len(total)):
                    value = values[event, w - 1]
                    rows[depth, w] = max(value, rows[depth - 1, w]) if depth else value
                if begins[at_state]:
                    longest = max(longest, depth + 1)
                    total[0] += 1.0
                    for w in range(1, sums):
                        total[w] += rows[depth, w]
                    for w in range(sums, len(total)):
                        total[w] = max(total[w], rows[depth, w])
                trend[depth, 0], trend[depth, 1], trend[depth, 2] = here, at_state, 0
                trend[depth, 3] = low[here, 0]
                # Back to the last event that has another one before it.
                while depth >= 0:
                    here, p, at = trend[depth, 0], trend[depth, 2], trend[depth, 3]
                    while at == high[here, p] and p + 1 < states:
                        p += 1
                        at = low[here, p]
                    if at < high[here, p]:
                        trend[depth, 2], trend[depth, 3] = p, at + 1
                        here = at if runs[p, trend[depth, 1]] else chosen[at]
                        at_state = p
                        break
                    depth -= 1
                if depth < 0:
                    break
                depth += 1
    return longest
