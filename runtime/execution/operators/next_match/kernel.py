"""The next-match kernel: processes events, or groups of equal instants, in all open windows.

It returns when there are no free rows, at a point from which it can continue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import Int, Truth, compiled, entry
from runtime.execution.operators.next_match.clear import clear
from runtime.execution.operators.next_match.step import step
from runtime.execution.operators.next_match.tables import NextMatchTables
from runtime.execution.operators.next_match.window_state import (
    DONE,
    EARLIEST,
    FREE,
    IS_LARGE,
    LAST,
    LATEST,
    LINK,
    NEWEST,
    NOBODY,
    NUMBER,
    OLDEST,
    OPEN,
    SLOT,
    SPARE,
    STATUS,
    TURN,
    WAITING,
    Doubles,
    Ints,
    WindowState,
)
from runtime.execution.prefetch import AHEAD, prefetch


class NextMatchEvents(NamedTuple):
    """`states`: the state that an event enters, or -1. `group`, `follower`: as in
    `SimultaneousGroups`. `values`: for each lane that is a sum; NaN adds nothing. `orders`: for
    each other lane, such that the least value is the result."""

    times: Ints
    slots: npt.NDArray[np.int32]
    states: npt.NDArray[np.int8]
    group: npt.NDArray[np.int8]
    follower: npt.NDArray[np.int32]
    values: Doubles
    orders: Ints


@entry
def process_events(
    tables: NextMatchTables, s: WindowState, ev: NextMatchEvents, cursor: Ints
) -> Truth:
    """Processes the events from `cursor[0]` on. Returns False if rows are needed."""
    size = len(ev.states)
    for i in range(cursor[0], size):
        if i + 2 * AHEAD < size:  # the slot must be in the cache to find the partition's rows
            prefetch(s.slots, np.int64(ev.slots[i + 2 * AHEAD]), 0)
            row = max(s.slots[ev.slots[i + AHEAD], OLDEST], 0)
            prefetch(s.rows, row, 0)
            prefetch(s.numbers, row, 0)
        group = ev.group[i]
        if group == 0 and ev.states[i] < 0:
            if tables.is_contiguous:
                s.slots[ev.slots[i], TURN] += 1
        elif group >= 0 and not _process_group(tables, s, ev, i):
            cursor[0] = i
            return False
    return True


@entry
def end_windows(tables: NextMatchTables, s: WindowState, watermark: Int) -> None:
    """Ends the windows of all slots that end at or before the watermark."""
    if s.counters[EARLIEST] > watermark:
        return
    s.counters[EARLIEST] = LATEST
    for slot in range(len(s.slots)):
        _end_until(tables, s, slot, watermark)
        row = s.slots[slot, OLDEST]
        if row != NOBODY:
            s.counters[EARLIEST] = min(s.counters[EARLIEST], _end(tables, s, row))


@entry
def free_rows(s: WindowState, rows: Ints) -> None:
    """Frees rows whose results have been collected."""
    for row in rows:
        _free(s, row)
    s.counters[WAITING] -= len(rows)


@compiled
def _process_group(
    tables: NextMatchTables, s: WindowState, ev: NextMatchEvents, first: Int
) -> Truth:
    """Processes one event or its group."""
    slot, time = ev.slots[first], ev.times[first]
    row = s.slots[slot, OLDEST]
    if row != NOBODY and _end(tables, s, row) <= time:
        _end_until(tables, s, slot, time)
    if _begins(tables, ev, first) and not _wake(tables, s, slot, time):
        return False
    turn = s.slots[slot, TURN] + 1
    s.slots[slot, TURN] = turn
    row = s.slots[slot, OLDEST]
    while row != NOBODY:
        step(tables, s, ev, row, first, turn)
        row = s.rows[row, LINK]
    return True


@compiled
def _begins(tables: NextMatchTables, ev: NextMatchEvents, first: Int) -> Truth:
    """Whether a trend can begin with an event of the group."""
    if ev.group[first] == 0:
        return tables.begins[ev.states[first]] != 0
    i = np.int64(first)
    while i >= 0:
        if ev.states[i] >= 0 and tables.begins[ev.states[i]]:
            return True
        i = ev.follower[i]
    return False


# ---- windows -----------------------------------------------------------------------------------


@compiled
def _wake(tables: NextMatchTables, s: WindowState, slot: Int, time: Int) -> Truth:
    """Opens the windows that contain this time. Those already open are the oldest ones."""
    newest = s.slots[slot, NEWEST]
    if newest != NOBODY:
        number = s.rows[newest, NUMBER] + 1
        if time < number * tables.slide:
            return True
        number = max(number, (time - tables.within) // tables.slide + 1)
    else:
        number = (time - tables.within) // tables.slide + 1
    if number * tables.slide < tables.since:
        number = -(-tables.since // tables.slide)
    for k in range(number, time // tables.slide + 1):
        if s.counters[SPARE] == NOBODY:
            return False
        _open(tables, s, slot, k)
    return True


@compiled
def _open(tables: NextMatchTables, s: WindowState, slot: Int, number: Int) -> None:
    row = s.counters[SPARE]
    s.counters[SPARE] = s.rows[row, LINK]
    s.rows[row, LINK] = NOBODY
    s.rows[row, STATUS] = OPEN
    s.rows[row, NUMBER] = number
    s.rows[row, SLOT] = slot
    s.rows[row, LAST] = NOBODY
    s.rows[row, IS_LARGE] = 0
    for block in range(1 + tables.states):
        clear(tables, s, row, block)
    newest = s.slots[slot, NEWEST]
    if newest == NOBODY:
        s.slots[slot, OLDEST] = row
    else:
        s.rows[newest, LINK] = row
    s.slots[slot, NEWEST] = row
    s.counters[EARLIEST] = min(s.counters[EARLIEST], _end(tables, s, row))


@compiled
def _end(tables: NextMatchTables, s: WindowState, row: Int) -> Int:
    return s.rows[row, NUMBER] * tables.slide + tables.within


@compiled
def _end_until(tables: NextMatchTables, s: WindowState, slot: Int, time: Int) -> None:
    """Ends windows. Rows without a trend are freed at once; the others keep their results."""
    row = s.slots[slot, OLDEST]
    while row != NOBODY and _end(tables, s, row) <= time:
        after = s.rows[row, LINK]
        if s.numbers[row, 0] == 0.0:
            _free(s, row)
        else:
            s.rows[row, STATUS] = DONE
            s.counters[WAITING] += 1
        s.slots[slot, OLDEST] = after
        if after == NOBODY:
            s.slots[slot, NEWEST] = NOBODY
        row = after


@compiled
def _free(s: WindowState, row: Int) -> None:
    s.rows[row, STATUS] = FREE
    s.rows[row, LINK] = s.counters[SPARE]
    s.counters[SPARE] = row
