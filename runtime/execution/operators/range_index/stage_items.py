"""Stages the trends that an event creates in each block, from the state before its instant."""

from __future__ import annotations

from runtime.execution.jit import inlined
from runtime.execution.operators.range_index.items import (
    ALONE,
    AS_SNAPSHOT,
    I_BLOCK,
    I_EVENT,
    I_FOLDS,
    I_MODE,
    I_ROW,
    I_START,
    I_WINDOW,
    ITEMS,
    SPLITTING,
    widest_item,
)
from runtime.execution.operators.range_index.node_arena import NONE, ROOT
from runtime.execution.operators.range_index.node_scan import NOTHING
from runtime.execution.operators.range_index.shared_kleene import (
    MEMBER,
    expand,
    gather_factors,
    own_value,
)
from runtime.execution.operators.range_index.stage_shared import enter, stage_shared
from runtime.execution.operators.range_index.tables import (
    ALWAYS,
    BLOCKS,
    COUNTS,
    FOLD_TOUCHES,
    K_INTS,
    K_TREE,
    K_WIDTH,
    KLEENE_PROBES,
    KLEENE_TARGETS,
    MEMBERS,
    OF_TYPE,
    PROBE_FOLD_NUMBERS,
    PROBE_FOLDS,
    PROBE_LANES,
    PROBE_NUMBERS,
    PROBES,
    S_COUNT,
    STARTS,
    TOUCHES,
    WINDOW,
    column_of,
    first_of,
)
from runtime.execution.operators.range_index.wide_tree import gather
from runtime.execution.operators.range_index.window_rows import find_row
from runtime.execution.wide_float import add, mul


@inlined
def items_needed(tables, events, space, start, stop):
    """The most items that the events of an instant can create."""
    asked = 0
    types = _types(tables)
    for event in range(start, stop):
        type_ = events.types[event]
        if 0 <= type_ < types:
            asked += first_of(tables, OF_TYPE, type_ + 1) - first_of(tables, OF_TYPE, type_)
    return asked


@inlined
def stage_event(tables, state, arena, events, space, cursor, trees, event, turn):
    type_ = events.types[event]
    types = _types(tables)
    if 0 <= type_ < types:
        window, there = _window_at(tables, events.points[event], turn)
        slot = events.slots[event]
        row = find_row(state, slot, window) if there else NONE
        for at in range(first_of(tables, OF_TYPE, type_), first_of(tables, OF_TYPE, type_ + 1)):
            block = tables[at]
            class_ = tables[first_of(tables, BLOCKS, block)]
            if there and (class_ < 0 or events.matches[class_, event]):
                _stage_item(
                    tables, state, arena, events, space, cursor, trees, event, block, row, window
                )


@inlined
def _types(tables):
    """The number of types with a list: the first row directly follows the list."""
    return tables[tables[OF_TYPE]] - tables[OF_TYPE] - 1


@inlined
def _stage_item(tables, state, arena, events, space, cursor, trees, event, block, row, window):
    item = cursor[ITEMS]
    head = first_of(tables, BLOCKS, block)
    numbers, folds, kleene = tables[head + 1], tables[head + 2], tables[head + 3]
    start = item * widest_item(space)
    first_fold = item * space.work_x.size
    items = space.items
    items[item, I_BLOCK] = block
    items[item, I_EVENT] = event
    items[item, I_ROW] = row
    items[item, I_WINDOW] = window
    items[item, I_START] = start
    items[item, I_FOLDS] = first_fold
    if row == NONE and first_of(tables, STARTS, block) == first_of(tables, STARTS, block + 1):
        return
    m = space.mantissas[start : start + space.sizes[block]]
    e = space.exponents[start : start + space.sizes[block]]
    x = space.leasts[first_fold : first_fold + folds]
    m[:] = 0.0
    e[:] = 0
    x[:] = NOTHING
    mode = ALONE
    if kleene >= 0:
        mode = stage_shared(
            tables, state, arena, events, space, trees,
            event, block, kleene, row, m, e, numbers, item,
        )  # fmt: skip
    if mode in (ALONE, SPLITTING, AS_SNAPSHOT):
        if kleene < 0:
            enter(tables, state, space, block, row, m, e, x)
        if row != NONE:
            _extend(tables, state, arena, events, space, trees, event, block, row, m, e, x)
        if _is_nothing(tables, block, m):
            return
        _add_own_values(tables, events, event, block, m, e, x)
    elif mode < 0:
        return
    items[item, I_MODE] = mode
    cursor[ITEMS] += 1


@inlined
def _extend(tables, state, arena, events, space, trees, event, block, row, m, e, x):
    """Adds the trends from steps with a comparison."""
    for i in range(first_of(tables, PROBES, block), first_of(tables, PROBES, block + 1), 4):
        probe, store, parts, column = tables[i], tables[i + 1], tables[i + 2], tables[i + 3]
        tree = row * trees + store
        if events.valid[column, event] and arena.trees[tree, ROOT] != NONE:
            lanes = tables[
                first_of(tables, PROBE_LANES, probe) : first_of(tables, PROBE_LANES, probe + 1)
            ]
            into = tables[
                first_of(tables, PROBE_NUMBERS, probe) : first_of(tables, PROBE_NUMBERS, probe + 1)
            ]
            folds = tables[
                first_of(tables, PROBE_FOLDS, probe) : first_of(tables, PROBE_FOLDS, probe + 1)
            ]
            folds_into = tables[
                first_of(tables, PROBE_FOLD_NUMBERS, probe) : first_of(
                    tables, PROBE_FOLD_NUMBERS, probe + 1
                )
            ]
            key = events.orders[column, event]
            gather(arena, tree, key, parts, lanes, into, folds, folds_into, m, e, x)
    for i in range(
        first_of(tables, KLEENE_PROBES, block), first_of(tables, KLEENE_PROBES, block + 1), 4
    ):
        probe, kleene, parts, column = tables[i], tables[i + 1], tables[i + 2], tables[i + 3]
        count = state.kleenes[row, column_of(tables, kleene, K_INTS) + S_COUNT]
        if events.valid[column, event] and count > 0:
            width, tree = column_of(tables, kleene, K_WIDTH), column_of(tables, kleene, K_TREE)
            wm, we = space.work_m, space.work_e
            wm[: count * width] = 0.0
            we[: count * width] = 0
            key, tree = events.orders[column, event], row * trees + tree
            gather_factors(arena, tree, count, width, key, parts, space.places, wm, we, 0)
            known = state.kleenes[row, column_of(tables, kleene, K_INTS) :]
            first = first_of(tables, MEMBERS, kleene)
            targets = first_of(tables, KLEENE_TARGETS, probe)
            for j in range(targets, first_of(tables, KLEENE_TARGETS, probe + 1), 2):
                member = first + MEMBER * tables[j]
                expand(
                    tables, state, known, width, member,
                    wm, we, 0, m, e, tables[j + 1],
                )  # fmt: skip


@inlined
def _is_nothing(tables, block, m):
    nothing = True
    for i in range(first_of(tables, COUNTS, block), first_of(tables, COUNTS, block + 1)):
        nothing = nothing and m[tables[i]] == 0.0
    return nothing


@inlined
def _add_own_values(tables, events, event, block, m, e, x):
    for i in range(first_of(tables, TOUCHES, block), first_of(tables, TOUCHES, block + 1), 4):
        number, count = tables[i], tables[i + 1]
        value, scale = own_value(tables[i + 2], tables[i + 3], events.values, event)
        if value != 0.0 and m[count] != 0.0:
            value, scale = mul(m[count], e[count], value, scale)
            m[number], e[number] = add(m[number], e[number], value, scale)
    for i in range(
        first_of(tables, FOLD_TOUCHES, block), first_of(tables, FOLD_TOUCHES, block + 1), 4
    ):
        fold, count, column = tables[i], tables[i + 1], tables[i + 2]
        if m[count] != 0.0 and events.valid[column, event]:
            key = events.orders[column, event]
            x[fold] = min(x[fold], ~key if tables[i + 3] else key)


@inlined
def _window_at(tables, point, turn):
    """The window that contains a point and whose turn it is, and whether there is one."""
    at = first_of(tables, WINDOW, 0)
    within, slide, counted = tables[at], tables[at + 1], tables[at + 2]
    at_once, since = tables[at + 3], tables[at + 4]
    low = (point - within) // slide + 1
    window = low + (turn - low) % at_once
    there = window <= point // slide
    if counted:
        there = there and window >= 0 and point >= 0
    else:
        there = there and (since == ALWAYS or window * slide >= since)
    return window, there
