"""Closes windows: completes their totals and frees their trees."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import compiled, inlined
from runtime.execution.operators.range_index.node_arena import NONE, fell
from runtime.execution.operators.range_index.shared_kleene import end, flush
from runtime.execution.operators.range_index.tables import WINDOW, first_of
from runtime.execution.operators.range_index.window_rows import WINDOW_OF, unlink_first

Ints = npt.NDArray[np.int64]


@compiled
def close_first(tables, state, arena, space, trees, slot):
    """Closes the oldest window of a partition: completes its totals and frees its trees."""
    row = unlink_first(state, slot)
    for kleene in range(state.decisions.shape[0]):
        flush(tables, state, row, kleene, space.given_m, space.given_e)
        end(tables, state, row, kleene)
    for tree in range(trees):
        fell(arena, row * trees + tree)


@inlined
def close_before(tables, state, arena, space, trees, events, event):
    """Closes the time windows that end before an event."""
    at = first_of(tables, WINDOW, 0)
    low = (events.points[event] - tables[at]) // tables[at + 1] + 1
    slot = events.slots[event]
    while state.slots[slot, 0] != NONE and state.rows[state.slots[slot, 0], WINDOW_OF] < low:
        close_first(tables, state, arena, space, trees, slot)


@compiled
def close_full(tables, state, arena, space, trees, events, event):
    """Closes the count windows that an event has filled."""
    at = first_of(tables, WINDOW, 0)
    within, slide = tables[at], tables[at + 1]
    slot, past = events.slots[event], events.points[event] + 1
    row = state.slots[slot, 0]
    while row != NONE and state.rows[row, WINDOW_OF] * slide + within <= past:
        close_first(tables, state, arena, space, trees, slot)
        row = state.slots[slot, 0]
