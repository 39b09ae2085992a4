"""Applies the items of an instant to totals, stores and shared Kleene states."""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import compiled, inlined
from runtime.execution.operators.range_index.items import (
    ALL_PROCESSED,
    ALONE,
    AS_SNAPSHOT,
    I_BLOCK,
    I_EVENT,
    I_FOLDS,
    I_MODE,
    I_START,
    I_VERSION,
    I_WINDOW,
    MORE_NODES,
    MORE_ROWS,
    MORE_SNAPSHOTS,
    NEXT_SPLIT,
    SHARED_STEP,
    SPLITTING,
    WORDS_NEEDED,
)
from runtime.execution.operators.range_index.node_arena import NONE, plant
from runtime.execution.operators.range_index.shared_kleene import (
    add_snapshot,
    begin,
    is_zero,
    put_factors,
    split,
    stir,
    touch_factors,
    wait,
    words_to_split,
)
from runtime.execution.operators.range_index.tables import (
    BLOCKS,
    FOLD_GIVES,
    GIVES,
    K_INTS,
    K_KEY,
    K_PENDING,
    K_TREE,
    K_WIDTH,
    S_ALONE,
    S_COUNT,
    S_CURRENT,
    S_RESERVED,
    S_SEEN,
    STIRS,
    STORE_FOLDS,
    STORE_LANES,
    STORES,
    column_of,
    first_of,
)
from runtime.execution.operators.range_index.wide_tree import insert
from runtime.execution.operators.range_index.window_rows import (
    CONTINUED,
    HELD,
    LAST_ALONE,
    MERGED,
    SHARED,
    SPLIT,
    TAKEN,
    find_row,
    has_row,
    has_snapshot,
    open_row,
)
from runtime.execution.wide_float import add


@inlined
def shortage(tables, state, arena, space, item):
    block = space.items[item, I_BLOCK]
    if not has_row(state):
        return MORE_ROWS
    if arena.used[0] + space.most_words[block] > arena.words.size:
        return MORE_NODES
    if tables[first_of(tables, BLOCKS, block) + 3] >= 0 and not has_snapshot(state):
        return MORE_SNAPSHOTS
    return ALL_PROCESSED


@inlined
def apply_item(tables, state, arena, events, space, trees, item):
    items = space.items
    block, event, window = items[item, I_BLOCK], items[item, I_EVENT], items[item, I_WINDOW]
    slot = events.slots[event]
    row = find_row(state, slot, window)
    if row == NONE:
        row = _begin_row(tables, state, arena, trees, slot, window)
    head = first_of(tables, BLOCKS, block)
    numbers, folds, kleene = tables[head + 1], tables[head + 2], tables[head + 3]
    start, first_fold, mode = items[item, I_START], items[item, I_FOLDS], items[item, I_MODE]
    m = space.mantissas[start : start + space.sizes[block]]
    e = space.exponents[start : start + space.sizes[block]]
    x = space.leasts[first_fold : first_fold + folds]
    if kleene >= 0:
        if mode == SPLITTING:
            _mark_split(tables, state, row, kleene)
        elif mode != ALONE:
            _settle(tables, state, row, kleene, mode, items[item, I_VERSION], m, e, numbers)
            count = state.kleenes[row, column_of(tables, kleene, K_INTS) + S_COUNT]
            width = column_of(tables, kleene, K_WIDTH)
            factors_m, factors_e = m[numbers:], e[numbers:]
            if mode != AS_SNAPSHOT and width > 1:
                values = events.values
                touch_factors(tables, kleene, count, width, values, event, factors_m, factors_e)
            at = column_of(tables, kleene, K_PENDING)
            pending, powers = state.pending[row, at:], state.pending_powers[row, at:]
            wait(pending, powers, count * width, factors_m, factors_e)
            column = column_of(tables, kleene, K_KEY)
            if events.valid[column, event]:
                key = events.orders[column, event]
                tree = row * trees + column_of(tables, kleene, K_TREE)
                put_factors(arena, tree, count, width, key, factors_m, factors_e, space.places)
    if mode in (ALONE, SPLITTING):
        _give(tables, state, row, block, m, e, x)
        _put(tables, arena, events, space, trees, event, block, row, m, e, x)
    for i in range(first_of(tables, STIRS, block), first_of(tables, STIRS, block + 1)):
        stir(tables, state, row, tables[i])


@compiled
def _begin_row(tables, state, arena, trees, slot, window):
    row = open_row(state, slot, window)
    for tree in range(trees):
        plant(arena, row * trees + tree, tree)
    for kleene in range(state.decisions.shape[0]):
        begin(tables, state, row, kleene)
        if state.decisions[kleene, LAST_ALONE]:
            state.decisions[kleene, LAST_ALONE] = 0
            state.decisions[kleene, MERGED] += 1
    return row


@compiled
def _mark_split(tables, state, row, kleene):
    """Marks a state as split: from now on, each query has its own numbers."""
    at = column_of(tables, kleene, K_INTS)
    if not state.kleenes[row, at + S_ALONE]:
        state.kleenes[row, at + S_ALONE] = 1
        state.decisions[kleene, SPLIT] += 1
        state.decisions[kleene, LAST_ALONE] = 1


@compiled
def _settle(tables, state, row, kleene, mode, version, m, e, numbers):
    """Creates the snapshot that an event needs, and sets its factor."""
    at, width = column_of(tables, kleene, K_INTS), column_of(tables, kleene, K_WIDTH)
    known = state.kleenes[row]
    if mode != SHARED_STEP and known[at + S_RESERVED] > 0:
        known[at + S_RESERVED] -= 1
    if mode == AS_SNAPSHOT:
        place = add_snapshot(tables, state, row, kleene, m, e, 0)
        state.decisions[kleene, SHARED] += 1
        m[numbers : numbers + (place + 1) * width] = 0.0
        e[numbers : numbers + (place + 1) * width] = 0
        m[numbers + place * width] = 1.0
    else:
        if mode == SHARED_STEP or known[at + S_SEEN] == version:  # perhaps by one of this instant
            state.decisions[kleene, CONTINUED] += 1
        else:
            known[at + S_SEEN] = version
            known[at + S_CURRENT] = NONE
            if not is_zero(m, 0, numbers):
                known[at + S_CURRENT] = add_snapshot(tables, state, row, kleene, m, e, 0)
                state.decisions[kleene, SHARED] += 1
        if known[at + S_CURRENT] >= 0:
            place = numbers + known[at + S_CURRENT] * width
            m[place], e[place] = add(m[place], e[place], 1.0, np.int64(0))
    state.decisions[kleene, TAKEN] += 1
    state.decisions[kleene, HELD] += known[at + S_COUNT]


@inlined
def _give(tables, state, row, block, m, e, x):
    for i in range(first_of(tables, GIVES, block), first_of(tables, GIVES, block + 1), 2):
        number, total = tables[i], tables[i + 1]
        if m[number] != 0.0:
            old, power = state.mantissas[row, total], np.int64(state.exponents[row, total])
            old, power = add(old, power, m[number], e[number])
            state.mantissas[row, total] = old
            state.exponents[row, total] = power
    for i in range(first_of(tables, FOLD_GIVES, block), first_of(tables, FOLD_GIVES, block + 1), 2):
        total = tables[i + 1]
        state.leasts[row, total] = min(state.leasts[row, total], x[tables[i]])


@inlined
def _put(tables, arena, events, space, trees, event, block, row, m, e, x):
    for i in range(first_of(tables, STORES, block), first_of(tables, STORES, block + 1), 2):
        store, column = tables[i], tables[i + 1]
        if events.valid[column, event]:
            first = first_of(tables, STORE_LANES, store)
            lanes = first_of(tables, STORE_LANES, store + 1) - first
            for lane in range(lanes):
                space.work_m[lane] = m[tables[first + lane]]
                space.work_e[lane] = e[tables[first + lane]]
            first = first_of(tables, STORE_FOLDS, store)
            folds = first_of(tables, STORE_FOLDS, store + 1) - first
            for fold in range(folds):
                space.work_x[fold] = x[tables[first + fold]]
            key = events.orders[column, event]
            tree = row * trees + store
            insert(arena, tree, key, space.work_m, space.work_e, space.work_x, lanes)


@compiled
def split_state(tables, state, arena, space, events, trees, cursor):
    """Splits the state of the next item if necessary, after applying the items of the instant that
    use snapshots."""
    item = cursor[NEXT_SPLIT]
    short = ALL_PROCESSED
    kleene = tables[first_of(tables, BLOCKS, space.items[item, I_BLOCK]) + 3]
    if space.items[item, I_MODE] == SPLITTING:
        slot, window = events.slots[space.items[item, I_EVENT]], space.items[item, I_WINDOW]
        row = find_row(state, slot, window)
        if state.kleenes[row, column_of(tables, kleene, K_INTS) + S_COUNT] > 0:
            cursor[WORDS_NEEDED] = words_to_split(tables, arena, row, trees, kleene)
            if arena.used[0] + cursor[WORDS_NEEDED] > arena.words.size:
                short = MORE_NODES
            else:
                split(
                    tables, state, arena, row, trees, kleene,
                    space.work_m, space.work_e, space.given_m, space.given_e,
                )  # fmt: skip
    if short == ALL_PROCESSED:
        cursor[NEXT_SPLIT] += 1
    return short
