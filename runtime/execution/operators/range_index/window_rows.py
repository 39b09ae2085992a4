"""The open windows of all partitions, and closed ones whose results are still unread.

A *row* is one window of one partition: its totals, its trees and its shared Kleene states. The
open rows of a partition form a list by ascending window. Closing a row removes it from the list and
frees its trees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import compiled, inlined
from runtime.execution.operators.range_index.node_arena import NONE
from runtime.execution.operators.range_index.node_scan import NOTHING

Ints = npt.NDArray[np.int64]

FREE, OPEN, DONE = 0, 1, 2
# Columns of `rows`.
AFTER, WINDOW_OF, SLOT_OF, STATUS = range(4)
# Places of `counters`.
ROWS_USED, FREE_ROW, OPEN_ROWS, DONE_ROWS, SNAPSHOTS_USED, FREE_SNAPSHOT = range(6)
# Indexes of `decisions`, by kleene: the number of decisions of each kind, whether the last window
# ended split, the number of shared events, and the snapshots of all of these.
SHARED, SPLIT, MERGED, CONTINUED, LAST_ALONE, TAKEN, HELD, COUNTED = range(8)


class WindowRows(NamedTuple):
    counters: Ints
    slots: Ints  # by slot: first row, row that was found last, next ordinal
    rows: Ints
    mantissas: npt.NDArray[np.float64]  # totals, by row
    exponents: npt.NDArray[np.int32]
    leasts: Ints  # total folds, by row
    kleenes: Ints  # states of kleenes, by row
    pending: npt.NDArray[np.float64]  # sums that kleenes have not given yet, by row
    pending_powers: npt.NDArray[np.int32]
    snapshots: npt.NDArray[np.float64]  # values for each number of a block, by snapshot
    snapshot_powers: npt.NDArray[np.int32]
    after: Ints  # by snapshot: the next free one
    decisions: Ints


def empty_rows(
    totals: int, folds: int, kleene_ints: int, pending: int, width: int, kleenes: int
) -> WindowRows:
    counters = np.zeros(6, np.int64)
    counters[[FREE_ROW, FREE_SNAPSHOT]] = NONE
    return WindowRows(
        counters=counters,
        slots=np.zeros((0, 3), np.int64),
        rows=np.zeros((0, 4), np.int64),
        mantissas=np.zeros((0, totals)),
        exponents=np.zeros((0, totals), np.int32),
        leasts=np.zeros((0, folds), np.int64),
        kleenes=np.zeros((0, kleene_ints), np.int64),
        pending=np.zeros((0, pending)),
        pending_powers=np.zeros((0, pending), np.int32),
        snapshots=np.zeros((0, width)),
        snapshot_powers=np.zeros((0, width), np.int32),
        after=np.zeros(0, np.int64),
        decisions=np.zeros((kleenes, COUNTED), np.int64),
    )


def with_rows(state: WindowRows, rows: int) -> WindowRows:
    names = ("rows", "mantissas", "exponents", "leasts", "kleenes", "pending", "pending_powers")
    return state._replace(**{name: _longer(getattr(state, name), rows, 0) for name in names})


def with_slots(state: WindowRows, slots: int) -> WindowRows:
    longer = _longer(state.slots, slots, NONE)
    longer[len(state.slots) :, 2] = 0
    return state._replace(slots=longer)


def with_snapshots(state: WindowRows, snapshots: int) -> WindowRows:
    names = ("snapshots", "snapshot_powers", "after")
    return state._replace(**{name: _longer(getattr(state, name), snapshots, 0) for name in names})


def _longer(array: npt.NDArray[Any], length: int, fill: int) -> npt.NDArray[Any]:
    longer = np.full((length, *array.shape[1:]), fill, array.dtype)
    longer[: len(array)] = array
    return longer


def free_rows(state: WindowRows, rows: Ints) -> None:
    """Frees closed rows."""
    chain = np.append(state.counters[FREE_ROW], rows)
    state.rows[rows, STATUS] = FREE
    state.rows[rows, AFTER] = chain[:-1]
    state.counters[FREE_ROW] = chain[-1]
    state.counters[DONE_ROWS] -= len(rows)


@inlined
def find_row(state, slot, window):
    """The open row of a window, or NONE. Remembers where it was, since windows come in order."""
    row = state.slots[slot, 1]
    if row == NONE or state.rows[row, WINDOW_OF] > window:
        row = state.slots[slot, 0]
    while row != NONE and state.rows[row, WINDOW_OF] < window:
        after = state.rows[row, AFTER]
        if after == NONE or state.rows[after, WINDOW_OF] > window:
            break
        row = after
    state.slots[slot, 1] = row
    return row if row != NONE and state.rows[row, WINDOW_OF] == window else NONE


@compiled
def open_row(state, slot, window):
    """Inserts a new row into the partition's list. The caller has checked `has_row`."""
    counters, rows = state.counters, state.rows
    row = counters[FREE_ROW]
    if row == NONE:
        row = counters[ROWS_USED]
        counters[ROWS_USED] += 1
    else:
        counters[FREE_ROW] = rows[row, AFTER]
    counters[OPEN_ROWS] += 1
    rows[row, WINDOW_OF] = window
    rows[row, SLOT_OF] = slot
    rows[row, STATUS] = OPEN
    state.mantissas[row, :] = 0.0
    state.exponents[row, :] = 0
    state.leasts[row, :] = NOTHING
    state.kleenes[row, :] = 0
    state.pending[row, :] = 0.0
    state.pending_powers[row, :] = 0
    before = state.slots[slot, 1]  # where `find_row` stopped
    if before == NONE or rows[before, WINDOW_OF] > window:
        rows[row, AFTER] = state.slots[slot, 0]
        state.slots[slot, 0] = row
    else:
        rows[row, AFTER] = rows[before, AFTER]
        rows[before, AFTER] = row
    state.slots[slot, 1] = row
    return row


@compiled
def unlink_first(state, slot):
    """Removes the oldest row from a partition's list and marks it as done."""
    row = state.slots[slot, 0]
    state.slots[slot, 0] = state.rows[row, AFTER]
    state.slots[slot, 1] = NONE
    state.rows[row, STATUS] = DONE
    state.counters[OPEN_ROWS] -= 1
    state.counters[DONE_ROWS] += 1
    return row


@inlined
def has_row(state):
    counters = state.counters
    return counters[FREE_ROW] != NONE or counters[ROWS_USED] < state.rows.shape[0]


@compiled
def new_snapshot(state):
    counters = state.counters
    snapshot = counters[FREE_SNAPSHOT]
    if snapshot == NONE:
        snapshot = counters[SNAPSHOTS_USED]
        counters[SNAPSHOTS_USED] += 1
    else:
        counters[FREE_SNAPSHOT] = state.after[snapshot]
    return snapshot


@compiled
def free_snapshot(state, snapshot):
    state.after[snapshot] = state.counters[FREE_SNAPSHOT]
    state.counters[FREE_SNAPSHOT] = snapshot


@inlined
def has_snapshot(state):
    counters = state.counters
    return counters[FREE_SNAPSHOT] != NONE or counters[SNAPSHOTS_USED] < state.snapshots.shape[0]
