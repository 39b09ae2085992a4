"""The kernel of the range-index operator: processes events in order, instant by instant.

All events of an instant read the state from before it: first each event stages its items, then
the items are applied. Windows take turns: those with the same number modulo the number of windows
that can be open at once are processed together, so no partition has two of them in a turn.

If memory is short, the kernel returns what it needs and is called again with the same cursor.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import Int, entry
from runtime.execution.operators.range_index.apply_items import apply_item, shortage, split_state
from runtime.execution.operators.range_index.close_windows import (
    close_before,
    close_first,
    close_full,
)
from runtime.execution.operators.range_index.items import (
    ALL_PROCESSED,
    APPLYING,
    EVENT,
    I_MODE,
    ITEM,
    ITEMS,
    ITEMS_NEEDED,
    MORE_ITEMS,
    NEXT_SPLIT,
    SPLITTING,
    TURN,
    RangeIndexEvents,
    WorkSpace,
    widest_item,
)
from runtime.execution.operators.range_index.node_arena import NONE, NodeArena
from runtime.execution.operators.range_index.stage_items import items_needed, stage_event
from runtime.execution.operators.range_index.tables import WINDOW, first_of
from runtime.execution.operators.range_index.window_rows import WINDOW_OF, WindowRows

Ints = npt.NDArray[np.int64]


@entry
def process_events(
    tables: Ints,
    state: WindowRows,
    arena: NodeArena,
    events: RangeIndexEvents,
    space: WorkSpace,
    cursor: Ints,
) -> Int:
    """Processes events from the cursor on. Returns ALL_PROCESSED, or what it needs more of."""
    at = first_of(tables, WINDOW, 0)
    counted, at_once = tables[at + 2] != 0, tables[at + 3]
    trees = arena.lanes.size
    size = events.instants.size
    start = cursor[EVENT]
    while start < size:
        stop = start + 1
        while stop < size and events.instants[stop] == events.instants[start]:
            stop += 1
        if cursor[TURN] == 0 and not cursor[APPLYING]:
            asked = items_needed(tables, events, space, start, stop)
            if asked > space.items.shape[0] or asked * widest_item(space) > space.mantissas.size:
                cursor[EVENT] = start
                cursor[ITEMS_NEEDED] = asked
                return MORE_ITEMS
            if asked > 0 and not counted:
                for event in range(start, stop):
                    close_before(tables, state, arena, space, trees, events, event)
            if asked == 0:
                cursor[TURN] = at_once
        for turn in range(cursor[TURN], at_once):
            if not cursor[APPLYING]:
                cursor[ITEMS] = 0
                for event in range(start, stop):
                    stage_event(tables, state, arena, events, space, cursor, trees, event, turn)
                cursor[APPLYING] = 1
                cursor[ITEM] = 0
                cursor[NEXT_SPLIT] = cursor[ITEMS]
            while cursor[ITEM] < cursor[ITEMS]:
                item = cursor[ITEM]
                short = shortage(tables, state, arena, space, item)
                if short != ALL_PROCESSED:
                    cursor[EVENT] = start
                    cursor[TURN] = turn
                    return short
                if space.items[item, I_MODE] == SPLITTING:
                    cursor[NEXT_SPLIT] = 0
                apply_item(tables, state, arena, events, space, trees, item)
                cursor[ITEM] += 1
            while cursor[NEXT_SPLIT] < cursor[ITEMS]:
                short = split_state(tables, state, arena, space, events, trees, cursor)
                if short != ALL_PROCESSED:
                    cursor[EVENT] = start
                    cursor[TURN] = turn
                    return short
            cursor[APPLYING] = 0
        cursor[TURN] = 0
        if counted:
            for event in range(start, stop):
                close_full(tables, state, arena, space, trees, events, event)
        start = stop
    cursor[EVENT] = start
    return ALL_PROCESSED


@entry
def close_until(
    tables: Ints, state: WindowRows, arena: NodeArena, space: WorkSpace, watermark: Int
) -> None:
    """Closes all time windows that end at or before the watermark."""
    at = first_of(tables, WINDOW, 0)
    trees = arena.lanes.size
    last = (watermark - tables[at]) // tables[at + 1]
    for slot in range(state.slots.shape[0]):
        row = state.slots[slot, 0]
        while row != NONE and state.rows[row, WINDOW_OF] <= last:
            close_first(tables, state, arena, space, trees, slot)
            row = state.slots[slot, 0]


@entry
def count_events(slots: Ints, times: Ints, since: Int, known: Ints, ordinals: Ints) -> None:
    """Numbers the events of each partition; -1 for events older than the queries."""
    for i in range(slots.size):
        ordinals[i] = -1
        if times[i] >= since:
            ordinals[i] = known[slots[i], 2]
            known[slots[i], 2] += 1
