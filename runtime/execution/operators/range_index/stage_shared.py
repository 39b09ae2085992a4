"""Stages the trends of an event in a shared Kleene state, and decides whether it splits."""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import compiled, inlined
from runtime.execution.operators.range_index.items import (
    ALONE,
    AS_SNAPSHOT,
    I_VERSION,
    I_WINDOW,
    NEW_ENTRY,
    SHARED_STEP,
    SPLITTING,
)
from runtime.execution.operators.range_index.node_arena import NONE
from runtime.execution.operators.range_index.shared_kleene import (
    MEMBER,
    expand,
    flush,
    gather_factors,
    is_zero,
)
from runtime.execution.operators.range_index.tables import (
    ADDS,
    FLUSHES,
    FOLD_ADDS,
    K_ALONE,
    K_BORDER,
    K_COMMON,
    K_DIFFER,
    K_INTS,
    K_LIMIT,
    K_MOVE,
    K_SHARED,
    K_TREE,
    K_WIDTH,
    MEMBERS,
    S_ALONE,
    S_COUNT,
    S_CURRENT,
    S_RESERVED,
    S_SEEN,
    S_VERSION,
    STARTS,
    WINDOW,
    column_of,
    first_of,
)
from runtime.execution.wide_float import add


@compiled
def stage_shared(
    tables, state, arena, events, space, trees, event, block, kleene, row, m, e, numbers, item
):
    """Decides how an event enters a shared state and computes the numbers: the entering trends (if
    new) at the start of `m, e`, then the factors. Returns -1 if the event adds nothing."""
    at = column_of(tables, kleene, K_INTS)
    width, limit = column_of(tables, kleene, K_WIDTH), column_of(tables, kleene, K_LIMIT)
    common, differ = column_of(tables, kleene, K_COMMON), column_of(tables, kleene, K_DIFFER)
    column = column_of(tables, kleene, K_BORDER)
    count, seen, version, current, alone, reserved = 0, -1, 0, -1, False, 0
    if row != NONE:
        count = state.kleenes[row, at + S_COUNT]
        seen = state.kleenes[row, at + S_SEEN]
        version = state.kleenes[row, at + S_VERSION]
        current = state.kleenes[row, at + S_CURRENT]
        alone = state.kleenes[row, at + S_ALONE] != 0
        reserved = state.kleenes[row, at + S_RESERVED]
    factors = count * width
    wm, we = space.work_m, space.work_e
    known = count > 0 and events.valid[column, event]
    if known:
        key = events.orders[column, event]
        tree = row * trees + column_of(tables, kleene, K_TREE)
        wm[: 4 * factors] = 0.0
        we[: 4 * factors] = 0
        for part in range(-1, 3):  # what all queries compare alike, then what only some look at
            parts = common if part < 0 else differ & (1 << part)
            if parts:
                start = (1 + part) * factors
                gather_factors(arena, tree, count, width, key, parts, space.places, wm, we, start)
    differs = known and differ != 0 and not is_zero(wm, factors, 4 * factors)
    fresh = alone or seen != version
    if fresh or differs:
        enter(tables, state, space, block, row, m, e, space.work_x)
    entered = fresh and not is_zero(m, 0, numbers)
    mode = SHARED_STEP
    if alone:
        mode = ALONE
    elif (entered or differs) and (
        count + reserved >= limit
        or not _snapshot_pays(
            tables, kleene, count, space.items[item, I_WINDOW], events.points[event]
        )
    ):
        mode = SPLITTING
    elif differs:
        mode = AS_SNAPSHOT
    elif fresh:
        mode = NEW_ENTRY
    if (mode in (SHARED_STEP, NEW_ENTRY)) and (not known or is_zero(wm, 0, factors)):
        enters = entered or (not fresh and current >= 0)
        mode = mode if enters else -1
    if row != NONE and (mode in (AS_SNAPSHOT, NEW_ENTRY)):
        # Events of one instant together must not exceed the limit on snapshots.
        state.kleenes[row, at + S_RESERVED] += 1
    space.items[item, I_VERSION] = version
    if mode in (SHARED_STEP, NEW_ENTRY):
        for i in range(factors if known else 0):
            m[numbers + i] = wm[i]
            e[numbers + i] = we[i]
        return mode
    if known:
        _expand_members(tables, state, row, kleene, factors, wm, we, m, e)
    return mode


@inlined
def enter(tables, state, space, block, row, m, e, x):
    """Adds the trends that begin here and those from steps without a condition."""
    for i in range(first_of(tables, STARTS, block), first_of(tables, STARTS, block + 1)):
        m[tables[i]] = 1.0
    if row != NONE:
        for i in range(first_of(tables, FLUSHES, block), first_of(tables, FLUSHES, block + 1)):
            flush(tables, state, row, tables[i], space.given_m, space.given_e)
        for i in range(first_of(tables, ADDS, block), first_of(tables, ADDS, block + 1), 2):
            total, number = tables[i], tables[i + 1]
            power = np.int64(state.exponents[row, total])
            m[number], e[number] = add(m[number], e[number], state.mantissas[row, total], power)
        for i in range(
            first_of(tables, FOLD_ADDS, block), first_of(tables, FOLD_ADDS, block + 1), 2
        ):
            fold = tables[i + 1]
            x[fold] = min(x[fold], state.leasts[row, tables[i]])


@compiled
def _snapshot_pays(tables, kleene, count, window, point):
    """Whether one more snapshot pays if the rest of the window continues as it began. Costs are
    per event so far; `rest` more events are expected for each."""
    shared = column_of(tables, kleene, K_SHARED)
    if count == 0 or shared == 0:
        return True
    at = first_of(tables, WINDOW, 0)
    gone = point - window * tables[at + 1]
    rest = (tables[at] - gone) / max(gone, 1)
    going_on = rest * (count + 1 + count * rest / 2) * shared
    trees = 1 + np.log2(count)
    parting = rest * column_of(tables, kleene, K_ALONE) + trees * column_of(tables, kleene, K_MOVE)
    return going_on <= parting


@compiled
def _expand_members(tables, state, row, kleene, factors, wm, we, m, e):
    """Adds the trends that each query's own comparison finds to its numbers."""
    common, width = column_of(tables, kleene, K_COMMON), column_of(tables, kleene, K_WIDTH)
    known = state.kleenes[row, column_of(tables, kleene, K_INTS) :]
    first = first_of(tables, MEMBERS, kleene)
    for member in range(first, first_of(tables, MEMBERS, kleene + 1), MEMBER):
        number, parts = tables[member], tables[member + 2]
        for part in range(-1, 3):
            if part < 0 or (parts & ~common) >> part & 1:
                expand(
                    tables, state, known, width, member,
                    wm, we, (1 + part) * factors, m, e, number,
                )  # fmt: skip
