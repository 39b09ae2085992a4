"""Processes one group of equal instants in one window.

New trends are staged first, from the state before the group; the window does not change until all
records are reserved. Then the semantics applies: skip-till-any-match keeps the old trends,
skip-till-next-match removes those that an event of the group extends, contiguous keeps only trends
that end in the group itself.
"""

from __future__ import annotations

from runtime.execution.jit import Int, compiled
from runtime.execution.operators.general.arena import (
    ENTERED,
    FAULT,
    NOBODY,
    NODES,
    OK,
    STAMP,
    TrendArena,
    free_nodes,
)
from runtime.execution.operators.general.commit import enter
from runtime.execution.operators.general.events import EVENT_MASK, GeneralEvents
from runtime.execution.operators.general.evict import leave
from runtime.execution.operators.general.reserve import find_room, undo
from runtime.execution.operators.general.stage import extend, start
from runtime.execution.operators.general.tables import CONTIGUOUS, NEXT, GeneralTables


@compiled
def step(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    window: Int,
    low: Int,
    high: Int,
    at: Int,
) -> Int:
    """Processes the rows `ev.order[low:high]`; `at` is the ordinal of the group's last event.
    Returns OK, or what it ran out of; then nothing has changed."""
    s.counters[ENTERED] = NOBODY
    s.counters[STAMP] += 1
    s.counters[FAULT] = OK
    taken = 0
    for k in range(low, high):
        row = ev.order[k]
        mask = ev.rows[k, EVENT_MASK] & tables.positive
        if mask != 0:
            taken |= extend(tables, s, ev, slot, window, mask, row)
            if mask & tables.first and s.counters[FAULT] == OK:
                start(tables, s, ev, slot, window, mask, row)
            if s.counters[FAULT] != OK:
                break
    if s.counters[FAULT] == OK and (tables.awaiting or tables.conjunctive):
        find_room(tables, s, window, taken)
    if s.counters[FAULT] != OK:
        undo(s, window)
        return s.counters[FAULT]
    if tables.semantics == CONTIGUOUS:
        free_nodes(s, s.windows[window, NODES])
        s.windows[window, NODES] = NOBODY
    elif tables.semantics == NEXT and taken != 0:
        leave(tables, s, ev.ranks, slot, window)
    enter(tables, s, ev.ranks, slot, window, at)
    return OK
