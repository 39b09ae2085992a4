"""The general kernel: a loop over partitions, groups of equal instants, and windows.

It returns when an array is full, at a point from which it can continue.
"""

from __future__ import annotations

from runtime.execution.jit import Int, compiled, entry
from runtime.execution.operators.general.arena import (
    EARLIEST,
    LATEST,
    LEFT,
    LINK,
    MOVES,
    NEWEST,
    NOBODY,
    NODES,
    NUMBER,
    OK,
    OLDEST,
    SEEN,
    THREAD,
    TURN,
    TURNS,
    TrendArena,
    free_nodes,
)
from runtime.execution.operators.general.events import (
    EVENT_MASK,
    INSTANT,
    SLOT,
    TIME,
    GeneralEvents,
)
from runtime.execution.operators.general.negation import commit_moves, stage_moves
from runtime.execution.operators.general.step import step
from runtime.execution.operators.general.tables import CONTIGUOUS, GeneralTables, Ints
from runtime.execution.operators.general.window_list import close_until, end_of, open_window


@entry
def process_events(tables: GeneralTables, s: TrendArena, ev: GeneralEvents, cursor: Ints) -> Int:
    """Processes the events from `cursor[0]` on. Returns OK when done, or what it ran out of."""
    low, size = cursor[0], len(ev.order)
    while low < size:
        slot, instant = ev.rows[low, SLOT], ev.rows[low, INSTANT]
        seen = ev.rows[low, EVENT_MASK]
        high = low + 1
        while high < size and ev.rows[high, SLOT] == slot and ev.rows[high, INSTANT] == instant:
            seen |= ev.rows[high, EVENT_MASK]
            high += 1
        if tables.counted:
            need = _process_counted(tables, s, ev, slot, low, high, seen)
        else:
            need = _process_timed(tables, s, ev, slot, low, high, seen)
        if need != OK:
            cursor[0] = low
            return need
        low = high
    cursor[0] = low
    return OK


@entry
def close_windows(
    tables: GeneralTables, s: TrendArena, ranks: Ints, watermark: Int, cursor: Ints
) -> Int:
    """Closes the windows of all slots from `cursor[0]` on that end at or before the watermark."""
    s.counters[MOVES] = 0
    if cursor[0] == 0:
        if s.counters[EARLIEST] > watermark:
            return OK
        s.counters[EARLIEST] = LATEST
    for slot in range(cursor[0], len(s.slots)):
        need = close_until(tables, s, ranks, slot, watermark)
        if need != OK:
            cursor[0] = slot
            return need
        window = s.slots[slot, OLDEST]
        if window != NOBODY:
            end = end_of(tables, s.windows[window, NUMBER])
            s.counters[EARLIEST] = min(s.counters[EARLIEST], end)
    return OK


# ---- windows of time ---------------------------------------------------------------------------


@compiled
def _process_timed(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    high: Int,
    seen: Int,
) -> Int:
    time = ev.rows[low, TIME]
    s.counters[MOVES] = 0
    need = close_until(tables, s, ev.ranks, slot, time)
    first = s.slots[slot, SEEN]
    if need == OK and seen & tables.waking:
        need = _wake_timed(tables, s, slot, time, first)
    if need == OK and s.slots[slot, OLDEST] != NOBODY:
        if seen != 0:
            need = _step_all(tables, s, ev, slot, low, high, seen)
        if need == OK:
            s.slots[slot, TURNS] += 1
            s.slots[slot, SEEN] = first + high - low
    return need


@compiled
def _wake_timed(tables: GeneralTables, s: TrendArena, slot: Int, time: Int, begin: Int) -> Int:
    """Opens the windows that contain this time. Those already open are the oldest ones."""
    newest = s.slots[slot, NEWEST]
    if newest != NOBODY:
        number = s.windows[newest, NUMBER] + 1
        if time < number * tables.slide:
            return OK
        number = max(number, (time - tables.within) // tables.slide + 1)
    else:
        number = (time - tables.within) // tables.slide + 1
    if number * tables.slide < tables.since:
        number = -(-tables.since // tables.slide)
    for k in range(number, time // tables.slide + 1):
        need = open_window(tables, s, slot, k, begin)
        if need != OK:
            return need
    return OK


@compiled
def _step_all(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    high: Int,
    seen: Int,
) -> Int:
    need = _stage(tables, s, ev, slot, low, high, seen)
    if need != OK:
        return need
    at = s.slots[slot, SEEN] + high - low - 1
    window = s.slots[slot, OLDEST]
    while window != NOBODY:
        need = _step(tables, s, ev, slot, window, low, high, at)
        if need != OK:
            return need
        window = s.windows[window, LINK]
    if s.counters[MOVES] != 0:
        commit_moves(tables, s, ev, slot, at)
    return OK


@compiled
def _stage(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    high: Int,
    seen: Int,
) -> Int:
    s.counters[MOVES] = 0
    if seen & tables.negated == 0:
        return OK
    need = stage_moves(tables, s, ev, slot, low, high, s.slots[slot, SEEN])
    if need == OK and s.counters[LEFT + THREAD] < s.counters[MOVES]:
        return THREAD
    return need


@compiled
def _step(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    window: Int,
    low: Int,
    high: Int,
    at: Int,
) -> Int:
    """Processes one group in one window, unless an interrupted call has already done so."""
    turn = s.slots[slot, TURNS] + 1
    if s.windows[window, TURN] == turn:
        return OK
    if tables.semantics == CONTIGUOUS and s.windows[window, TURN] != turn - 1:
        # There was an instant in between, although without events for this query.
        free_nodes(s, s.windows[window, NODES])
        s.windows[window, NODES] = NOBODY
    need = step(tables, s, ev, slot, window, low, high, at)
    if need == OK:
        s.windows[window, TURN] = turn
    return need


# ---- windows of events -------------------------------------------------------------------------


@compiled
def _process_counted(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    high: Int,
    seen: Int,
) -> Int:
    """A window may end or start inside a group of equal instants."""
    if ev.rows[low, TIME] < tables.since:
        return OK
    first = s.slots[slot, SEEN]
    last = first + high - low
    s.counters[MOVES] = 0
    need = OK
    if seen & tables.waking:
        need = _wake_counted(tables, s, ev, slot, low, first, last)
    if need == OK and s.slots[slot, OLDEST] != NOBODY:
        if seen != 0:
            need = _step_counted(tables, s, ev, slot, low, high, seen)
        if need == OK:
            # Moves of this group count for the windows that contain the events.
            need = close_until(tables, s, ev.ranks, slot, last)
        if need == OK and s.counters[MOVES] != 0:
            commit_moves(tables, s, ev, slot, last - 1)
    if need == OK:
        s.slots[slot, SEEN] = last
        s.slots[slot, TURNS] += 1
    return need


@compiled
def _wake_counted(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    first: Int,
    last: Int,
) -> Int:
    number = max((first - tables.within) // tables.slide + 1, 0)
    newest = s.slots[slot, NEWEST]
    if newest != NOBODY:
        number = max(number, s.windows[newest, NUMBER] + 1)
    for k in range(number, (last - 1) // tables.slide + 1):
        begin = max(first, k * tables.slide)
        awake = 0
        for ordinal in range(begin, min(last, end_of(tables, k))):
            awake |= ev.rows[low + ordinal - first, EVENT_MASK] & tables.waking
        if awake != 0:
            need = open_window(tables, s, slot, k, begin)
            if need != OK:
                return need
    return OK


@compiled
def _step_counted(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    high: Int,
    seen: Int,
) -> Int:
    need = _stage(tables, s, ev, slot, low, high, seen)
    if need != OK:
        return need
    first = s.slots[slot, SEEN]
    last = first + high - low
    window = s.slots[slot, OLDEST]
    while window != NOBODY:
        k = s.windows[window, NUMBER]
        begin, end = max(first, k * tables.slide), min(last, end_of(tables, k))
        need = _step(tables, s, ev, slot, window, low + begin - first, low + end - first, last - 1)
        if need != OK:
            return need
        window = s.windows[window, LINK]
    return OK
