"""The kernel: takes events in order, instant by instant.

All events of an instant read the state from before it: first every event of the instant leaves an
*item* (what it creates in each block, for one window), then the items are applied. Windows are
taken one after the other; those of a window's number modulo the windows that can be open at once
go together, so that no partition has two of them at a time.

Where memory is short the kernel returns what it needs, and is called again with the same cursor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import Int, compiled, entry, inlined
from runtime.execution.operators.range_index.node_arena import NONE, ROOT, Pool, fell, plant
from runtime.execution.operators.range_index.plan import (
    ADDS,
    ALWAYS,
    BLOCKS,
    COUNTS,
    FLUSHES,
    FOLD_ADDS,
    FOLD_GIVES,
    FOLD_TOUCHES,
    GIVES,
    K_ALONE,
    K_BORDER,
    K_COMMON,
    K_DIFFER,
    K_INTS,
    K_KEY,
    K_LIMIT,
    K_MOVE,
    K_PENDING,
    K_SHARED,
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
    S_ALONE,
    S_COUNT,
    S_CURRENT,
    S_RESERVED,
    S_SEEN,
    S_VERSION,
    STARTS,
    STIRS,
    STORE_FOLDS,
    STORE_LANES,
    STORES,
    TOUCHES,
    WINDOW,
)
from runtime.execution.operators.range_index.shared_kleene import (
    MEMBER,
    add_snapshot,
    begin,
    column_of,
    end,
    expand,
    first_of,
    flush,
    gather_factors,
    is_zero,
    own_value,
    put_factors,
    split,
    stir,
    touch_factors,
    wait,
    words_to_split,
)
from runtime.execution.operators.range_index.states import (
    CONTINUED,
    HELD,
    LAST_ALONE,
    MERGED,
    SHARED,
    SPLIT,
    TAKEN,
    WINDOW_OF,
    State,
    find_row,
    has_row,
    has_snapshot,
    open_row,
    unlink_first,
)
from runtime.execution.operators.range_index.wide_tree import NOTHING, gather, insert
from runtime.execution.wide_float import add, mul

Ints = npt.NDArray[np.int64]

# What the kernel can return.
ALL_TAKEN, MORE_ROWS, MORE_NODES, MORE_ITEMS, MORE_SNAPSHOTS = range(5)
# Places of the cursor: the instant's first event, the window's turn, whether items are being
# applied, which is next, how many there are, how many items are asked for, how many words of
# the pool, and which item's state is next to be split (where none is: how many items there are).
EVENT, TURN, APPLYING, ITEM, ITEMS, ASKED, WORDS, PARTED = range(8)
CURSOR = 8
# An item: its block, event, row (NONE: none yet), window, how it is to be applied, where its
# numbers and folds start, and which version of what enters it has seen.
I_BLOCK, I_EVENT, I_ROW, I_WINDOW, I_MODE, I_START, I_FOLDS, I_VERSION = range(8)
ITEM_COLUMNS = 8
# How: each query by itself; the same, from now on (the state splits); together; the same with
# a new snapshot of what enters; as a snapshot of the event.
ALONE, PARTING, TOGETHER, ENTERED, EVENTLY = range(5)


class Events(NamedTuple):
    """Columns of a batch."""

    instants: Ints
    points: Ints  # the time, or the ordinal in its partition (-1: before the query came)
    slots: npt.NDArray[np.int32]
    types: npt.NDArray[np.int32]
    matches: npt.NDArray[np.bool_]  # by class and event
    orders: Ints  # by column and event
    valid: npt.NDArray[np.bool_]
    values: npt.NDArray[np.float64]


class Space(NamedTuple):
    """Room to work in. `places` are the numbers from 0 up; `rooms` are, by block, the words that
    an event can ask of the pool."""

    items: Ints
    mantissas: npt.NDArray[np.float64]
    exponents: Ints
    leasts: Ints
    work_m: npt.NDArray[np.float64]
    work_e: Ints
    work_x: Ints
    given_m: npt.NDArray[np.float64]
    given_e: Ints
    places: Ints
    rooms: Ints
    sizes: Ints  # by block: numbers of an item


@inlined
def _window_at(plan, point, turn):
    """The window that holds a point and whose turn it is, and whether there is such a one."""
    at = first_of(plan, WINDOW, 0)
    within, slide, counted = plan[at], plan[at + 1], plan[at + 2]
    at_once, since = plan[at + 3], plan[at + 4]
    low = (point - within) // slide + 1
    window = low + (turn - low) % at_once
    there = window <= point // slide
    if counted:
        there = there and window >= 0 and point >= 0
    else:
        there = there and (since == ALWAYS or window * slide >= since)
    return window, there


# ---- the loop over instants ----------------------------------------------------------------


@entry
def take(plan: Ints, state: State, pool: Pool, events: Events, space: Space, cursor: Ints) -> Int:
    """Takes events from the cursor on. Returns ALL_TAKEN, or what there is too little of."""
    at = first_of(plan, WINDOW, 0)
    counted, at_once = plan[at + 2] != 0, plan[at + 3]
    trees = pool.lanes.size
    size = events.instants.size
    start = cursor[EVENT]
    while start < size:
        stop = start + 1
        while stop < size and events.instants[stop] == events.instants[start]:
            stop += 1
        if cursor[TURN] == 0 and not cursor[APPLYING]:
            asked = _asked(plan, events, space, start, stop)
            if asked > space.items.shape[0] or asked * _widest(space) > space.mantissas.size:
                cursor[EVENT] = start
                cursor[ASKED] = asked
                return MORE_ITEMS
            if asked > 0 and not counted:
                for event in range(start, stop):
                    _end_before(plan, state, pool, space, trees, events, event)
            if asked == 0:
                cursor[TURN] = at_once
        for turn in range(cursor[TURN], at_once):
            if not cursor[APPLYING]:
                cursor[ITEMS] = 0
                for event in range(start, stop):
                    _leave_items(plan, state, pool, events, space, cursor, trees, event, turn)
                cursor[APPLYING] = 1
                cursor[ITEM] = 0
                cursor[PARTED] = cursor[ITEMS]
            while cursor[ITEM] < cursor[ITEMS]:
                item = cursor[ITEM]
                short = _shortage(plan, state, pool, space, item)
                if short != ALL_TAKEN:
                    cursor[EVENT] = start
                    cursor[TURN] = turn
                    return short
                if space.items[item, I_MODE] == PARTING:
                    cursor[PARTED] = 0
                _apply(plan, state, pool, events, space, trees, item)
                cursor[ITEM] += 1
            while cursor[PARTED] < cursor[ITEMS]:
                short = _split_after(plan, state, pool, space, events, trees, cursor)
                if short != ALL_TAKEN:
                    cursor[EVENT] = start
                    cursor[TURN] = turn
                    return short
            cursor[APPLYING] = 0
        cursor[TURN] = 0
        if counted:
            for event in range(start, stop):
                _end_full(plan, state, pool, space, trees, events, event)
        start = stop
    cursor[EVENT] = start
    return ALL_TAKEN


@inlined
def _widest(space):
    return space.sizes[space.sizes.size - 1]


@inlined
def _asked(plan, events, space, start, stop):
    """How many items the events of an instant can leave at most."""
    asked = 0
    types = _owners(plan)
    for event in range(start, stop):
        type_ = events.types[event]
        if 0 <= type_ < types:
            asked += first_of(plan, OF_TYPE, type_ + 1) - first_of(plan, OF_TYPE, type_)
    return asked


# ---- what an event creates -----------------------------------------------------------------


@inlined
def _leave_items(plan, state, pool, events, space, cursor, trees, event, turn):
    type_ = events.types[event]
    types = _owners(plan)
    if 0 <= type_ < types:
        window, there = _window_at(plan, events.points[event], turn)
        slot = events.slots[event]
        row = find_row(state, slot, window) if there else NONE
        for at in range(first_of(plan, OF_TYPE, type_), first_of(plan, OF_TYPE, type_ + 1)):
            block = plan[at]
            class_ = plan[first_of(plan, BLOCKS, block)]
            if there and (class_ < 0 or events.matches[class_, event]):
                _leave_item(
                    plan, state, pool, events, space, cursor, trees, event, block, row, window
                )


@inlined
def _owners(plan):
    """How many types have a list: it is followed at once by its first row."""
    return plan[plan[OF_TYPE]] - plan[OF_TYPE] - 1


@inlined
def _leave_item(plan, state, pool, events, space, cursor, trees, event, block, row, window):
    item = cursor[ITEMS]
    head = first_of(plan, BLOCKS, block)
    numbers, folds, kleene = plan[head + 1], plan[head + 2], plan[head + 3]
    start = item * _widest(space)
    first_fold = item * space.work_x.size
    items = space.items
    items[item, I_BLOCK] = block
    items[item, I_EVENT] = event
    items[item, I_ROW] = row
    items[item, I_WINDOW] = window
    items[item, I_START] = start
    items[item, I_FOLDS] = first_fold
    if row == NONE and first_of(plan, STARTS, block) == first_of(plan, STARTS, block + 1):
        return
    m = space.mantissas[start : start + space.sizes[block]]
    e = space.exponents[start : start + space.sizes[block]]
    x = space.leasts[first_fold : first_fold + folds]
    m[:] = 0.0
    e[:] = 0
    x[:] = NOTHING
    mode = ALONE
    if kleene >= 0:
        mode = _leave_together(
            plan, state, pool, events, space, trees, event, block, kleene, row, m, e, numbers, item
        )
    if mode in (ALONE, PARTING, EVENTLY):
        if kleene < 0:
            _enter(plan, state, space, block, row, m, e, x)
        if row != NONE:
            _extend(plan, state, pool, events, space, trees, event, block, row, m, e, x)
        if _is_nothing(plan, block, m):
            return
        _touch(plan, events, event, block, m, e, x)
    elif mode < 0:
        return
    items[item, I_MODE] = mode
    cursor[ITEMS] += 1


@inlined
def _enter(plan, state, space, block, row, m, e, x):
    """What begins here, and what comes over steps without a condition."""
    for i in range(first_of(plan, STARTS, block), first_of(plan, STARTS, block + 1)):
        m[plan[i]] = 1.0
    if row != NONE:
        for i in range(first_of(plan, FLUSHES, block), first_of(plan, FLUSHES, block + 1)):
            flush(plan, state, row, plan[i], space.given_m, space.given_e)
        for i in range(first_of(plan, ADDS, block), first_of(plan, ADDS, block + 1), 2):
            total, number = plan[i], plan[i + 1]
            power = np.int64(state.exponents[row, total])
            m[number], e[number] = add(m[number], e[number], state.mantissas[row, total], power)
        for i in range(first_of(plan, FOLD_ADDS, block), first_of(plan, FOLD_ADDS, block + 1), 2):
            fold = plan[i + 1]
            x[fold] = min(x[fold], state.leasts[row, plan[i]])


@inlined
def _extend(plan, state, pool, events, space, trees, event, block, row, m, e, x):
    """What comes over steps with a comparison."""
    for i in range(first_of(plan, PROBES, block), first_of(plan, PROBES, block + 1), 4):
        probe, store, parts, column = plan[i], plan[i + 1], plan[i + 2], plan[i + 3]
        tree = row * trees + store
        if events.valid[column, event] and pool.trees[tree, ROOT] != NONE:
            lanes = plan[
                first_of(plan, PROBE_LANES, probe) : first_of(plan, PROBE_LANES, probe + 1)
            ]
            into = plan[
                first_of(plan, PROBE_NUMBERS, probe) : first_of(plan, PROBE_NUMBERS, probe + 1)
            ]
            folds = plan[
                first_of(plan, PROBE_FOLDS, probe) : first_of(plan, PROBE_FOLDS, probe + 1)
            ]
            folds_into = plan[
                first_of(plan, PROBE_FOLD_NUMBERS, probe) : first_of(
                    plan, PROBE_FOLD_NUMBERS, probe + 1
                )
            ]
            key = events.orders[column, event]
            gather(pool, tree, key, parts, lanes, into, folds, folds_into, m, e, x)
    for i in range(
        first_of(plan, KLEENE_PROBES, block), first_of(plan, KLEENE_PROBES, block + 1), 4
    ):
        probe, kleene, parts, column = plan[i], plan[i + 1], plan[i + 2], plan[i + 3]
        count = state.kleenes[row, column_of(plan, kleene, K_INTS) + S_COUNT]
        if events.valid[column, event] and count > 0:
            width, tree = column_of(plan, kleene, K_WIDTH), column_of(plan, kleene, K_TREE)
            wm, we = space.work_m, space.work_e
            wm[: count * width] = 0.0
            we[: count * width] = 0
            key, tree = events.orders[column, event], row * trees + tree
            gather_factors(pool, tree, count, width, key, parts, space.places, wm, we, 0)
            known = state.kleenes[row, column_of(plan, kleene, K_INTS) :]
            first = first_of(plan, MEMBERS, kleene)
            targets = first_of(plan, KLEENE_TARGETS, probe)
            for j in range(targets, first_of(plan, KLEENE_TARGETS, probe + 1), 2):
                member = first + MEMBER * plan[j]
                expand(
                    plan, state, known, width, member,
                    wm, we, 0, m, e, plan[j + 1],
                )  # fmt: skip


@inlined
def _is_nothing(plan, block, m):
    nothing = True
    for i in range(first_of(plan, COUNTS, block), first_of(plan, COUNTS, block + 1)):
        nothing = nothing and m[plan[i]] == 0.0
    return nothing


@inlined
def _touch(plan, events, event, block, m, e, x):
    for i in range(first_of(plan, TOUCHES, block), first_of(plan, TOUCHES, block + 1), 4):
        number, count = plan[i], plan[i + 1]
        value, scale = own_value(plan[i + 2], plan[i + 3], events.values, event)
        if value != 0.0 and m[count] != 0.0:
            value, scale = mul(m[count], e[count], value, scale)
            m[number], e[number] = add(m[number], e[number], value, scale)
    for i in range(first_of(plan, FOLD_TOUCHES, block), first_of(plan, FOLD_TOUCHES, block + 1), 4):
        fold, count, column = plan[i], plan[i + 1], plan[i + 2]
        if m[count] != 0.0 and events.valid[column, event]:
            key = events.orders[column, event]
            x[fold] = min(x[fold], ~key if plan[i + 3] else key)


# ---- a Kleene state that queries share -----------------------------------------------------


@compiled
def _leave_together(
    plan, state, pool, events, space, trees, event, block, kleene, row, m, e, numbers, item
):
    """Decides how an event goes into a shared state, and works out what that needs: what enters
    (if it is new) at the start of `m, e`, the factors behind it. Returns -1 for nothing."""
    at = column_of(plan, kleene, K_INTS)
    width, limit = column_of(plan, kleene, K_WIDTH), column_of(plan, kleene, K_LIMIT)
    common, differ = column_of(plan, kleene, K_COMMON), column_of(plan, kleene, K_DIFFER)
    column = column_of(plan, kleene, K_BORDER)
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
        tree = row * trees + column_of(plan, kleene, K_TREE)
        wm[: 4 * factors] = 0.0
        we[: 4 * factors] = 0
        for part in range(-1, 3):  # what all queries compare alike, then what only some look at
            parts = common if part < 0 else differ & (1 << part)
            if parts:
                start = (1 + part) * factors
                gather_factors(pool, tree, count, width, key, parts, space.places, wm, we, start)
    differs = known and differ != 0 and not is_zero(wm, factors, 4 * factors)
    fresh = alone or seen != version
    if fresh or differs:
        _enter(plan, state, space, block, row, m, e, space.work_x)
    entered = fresh and not is_zero(m, 0, numbers)
    mode = TOGETHER
    if alone:
        mode = ALONE
    elif (entered or differs) and (
        count + reserved >= limit
        or not _pays(plan, kleene, count, space.items[item, I_WINDOW], events.points[event])
    ):
        mode = PARTING
    elif differs:
        mode = EVENTLY
    elif fresh:
        mode = ENTERED
    if (mode in (TOGETHER, ENTERED)) and (not known or is_zero(wm, 0, factors)):
        enters = entered or (not fresh and current >= 0)
        mode = mode if enters else -1
    if row != NONE and (mode in (EVENTLY, ENTERED)):
        # Events of one instant must not ask for more snapshots together than there may be.
        state.kleenes[row, at + S_RESERVED] += 1
    space.items[item, I_VERSION] = version
    if mode in (TOGETHER, ENTERED):
        for i in range(factors if known else 0):
            m[numbers + i] = wm[i]
            e[numbers + i] = we[i]
        return mode
    if known:
        _expand_members(plan, state, row, kleene, factors, wm, we, m, e)
    return mode


@compiled
def _pays(plan, kleene, count, window, point):
    """Whether one snapshot more pays, if the rest of the window goes on as it began. All is for
    one event of those that have come, of which `rest` more are to come."""
    shared = column_of(plan, kleene, K_SHARED)
    if count == 0 or shared == 0:
        return True
    at = first_of(plan, WINDOW, 0)
    gone = point - window * plan[at + 1]
    rest = (plan[at] - gone) / max(gone, 1)
    going_on = rest * (count + 1 + count * rest / 2) * shared
    trees = 1 + np.log2(count)
    parting = rest * column_of(plan, kleene, K_ALONE) + trees * column_of(plan, kleene, K_MOVE)
    return going_on <= parting


@compiled
def _expand_members(plan, state, row, kleene, factors, wm, we, m, e):
    """Adds to each query's numbers what its own comparison finds."""
    common, width = column_of(plan, kleene, K_COMMON), column_of(plan, kleene, K_WIDTH)
    known = state.kleenes[row, column_of(plan, kleene, K_INTS) :]
    first = first_of(plan, MEMBERS, kleene)
    for member in range(first, first_of(plan, MEMBERS, kleene + 1), MEMBER):
        number, parts = plan[member], plan[member + 2]
        for part in range(-1, 3):
            if part < 0 or (parts & ~common) >> part & 1:
                expand(
                    plan, state, known, width, member,
                    wm, we, (1 + part) * factors, m, e, number,
                )  # fmt: skip


# ---- items are applied ---------------------------------------------------------------------


@inlined
def _shortage(plan, state, pool, space, item):
    block = space.items[item, I_BLOCK]
    if not has_row(state):
        return MORE_ROWS
    if pool.used[0] + space.rooms[block] > pool.words.size:
        return MORE_NODES
    if plan[first_of(plan, BLOCKS, block) + 3] >= 0 and not has_snapshot(state):
        return MORE_SNAPSHOTS
    return ALL_TAKEN


@inlined
def _apply(plan, state, pool, events, space, trees, item):
    items = space.items
    block, event, window = items[item, I_BLOCK], items[item, I_EVENT], items[item, I_WINDOW]
    slot = events.slots[event]
    row = find_row(state, slot, window)
    if row == NONE:
        row = _begin_row(plan, state, pool, trees, slot, window)
    head = first_of(plan, BLOCKS, block)
    numbers, folds, kleene = plan[head + 1], plan[head + 2], plan[head + 3]
    start, first_fold, mode = items[item, I_START], items[item, I_FOLDS], items[item, I_MODE]
    m = space.mantissas[start : start + space.sizes[block]]
    e = space.exponents[start : start + space.sizes[block]]
    x = space.leasts[first_fold : first_fold + folds]
    if kleene >= 0:
        if mode == PARTING:
            _part(plan, state, row, kleene)
        elif mode != ALONE:
            _settle(plan, state, row, kleene, mode, items[item, I_VERSION], m, e, numbers)
            count = state.kleenes[row, column_of(plan, kleene, K_INTS) + S_COUNT]
            width = column_of(plan, kleene, K_WIDTH)
            factors_m, factors_e = m[numbers:], e[numbers:]
            if mode != EVENTLY and width > 1:
                values = events.values
                touch_factors(plan, kleene, count, width, values, event, factors_m, factors_e)
            at = column_of(plan, kleene, K_PENDING)
            pending, powers = state.pending[row, at:], state.pending_powers[row, at:]
            wait(pending, powers, count * width, factors_m, factors_e)
            column = column_of(plan, kleene, K_KEY)
            if events.valid[column, event]:
                key = events.orders[column, event]
                tree = row * trees + column_of(plan, kleene, K_TREE)
                put_factors(pool, tree, count, width, key, factors_m, factors_e, space.places)
    if mode in (ALONE, PARTING):
        _give(plan, state, row, block, m, e, x)
        _put(plan, pool, events, space, trees, event, block, row, m, e, x)
    for i in range(first_of(plan, STIRS, block), first_of(plan, STIRS, block + 1)):
        stir(plan, state, row, plan[i])


@compiled
def _split_after(plan, state, pool, space, events, trees, cursor):
    """Once an instant's items are applied, which go by snapshots, states are split that have to."""
    item = cursor[PARTED]
    short = ALL_TAKEN
    kleene = plan[first_of(plan, BLOCKS, space.items[item, I_BLOCK]) + 3]
    if space.items[item, I_MODE] == PARTING:
        slot, window = events.slots[space.items[item, I_EVENT]], space.items[item, I_WINDOW]
        row = find_row(state, slot, window)
        if state.kleenes[row, column_of(plan, kleene, K_INTS) + S_COUNT] > 0:
            cursor[WORDS] = words_to_split(plan, pool, row, trees, kleene)
            if pool.used[0] + cursor[WORDS] > pool.words.size:
                short = MORE_NODES
            else:
                split(
                    plan, state, pool, row, trees, kleene,
                    space.work_m, space.work_e, space.given_m, space.given_e,
                )  # fmt: skip
    if short == ALL_TAKEN:
        cursor[PARTED] += 1
    return short


@compiled
def _begin_row(plan, state, pool, trees, slot, window):
    row = open_row(state, slot, window)
    for tree in range(trees):
        plant(pool, row * trees + tree, tree)
    for kleene in range(state.decisions.shape[0]):
        begin(plan, state, row, kleene)
        if state.decisions[kleene, LAST_ALONE]:
            state.decisions[kleene, LAST_ALONE] = 0
            state.decisions[kleene, MERGED] += 1
    return row


@compiled
def _part(plan, state, row, kleene):
    """From now on, each query has numbers of its own."""
    at = column_of(plan, kleene, K_INTS)
    if not state.kleenes[row, at + S_ALONE]:
        state.kleenes[row, at + S_ALONE] = 1
        state.decisions[kleene, SPLIT] += 1
        state.decisions[kleene, LAST_ALONE] = 1


@compiled
def _settle(plan, state, row, kleene, mode, version, m, e, numbers):
    """Makes the snapshot that an event asks for, and gives it its factor."""
    at, width = column_of(plan, kleene, K_INTS), column_of(plan, kleene, K_WIDTH)
    known = state.kleenes[row]
    if mode != TOGETHER and known[at + S_RESERVED] > 0:
        known[at + S_RESERVED] -= 1
    if mode == EVENTLY:
        place = add_snapshot(plan, state, row, kleene, m, e, 0)
        state.decisions[kleene, SHARED] += 1
        m[numbers : numbers + (place + 1) * width] = 0.0
        e[numbers : numbers + (place + 1) * width] = 0
        m[numbers + place * width] = 1.0
    else:
        if mode == TOGETHER or known[at + S_SEEN] == version:  # perhaps by one of this instant
            state.decisions[kleene, CONTINUED] += 1
        else:
            known[at + S_SEEN] = version
            known[at + S_CURRENT] = NONE
            if not is_zero(m, 0, numbers):
                known[at + S_CURRENT] = add_snapshot(plan, state, row, kleene, m, e, 0)
                state.decisions[kleene, SHARED] += 1
        if known[at + S_CURRENT] >= 0:
            place = numbers + known[at + S_CURRENT] * width
            m[place], e[place] = add(m[place], e[place], 1.0, np.int64(0))
    state.decisions[kleene, TAKEN] += 1
    state.decisions[kleene, HELD] += known[at + S_COUNT]


@inlined
def _give(plan, state, row, block, m, e, x):
    for i in range(first_of(plan, GIVES, block), first_of(plan, GIVES, block + 1), 2):
        number, total = plan[i], plan[i + 1]
        if m[number] != 0.0:
            old, power = state.mantissas[row, total], np.int64(state.exponents[row, total])
            old, power = add(old, power, m[number], e[number])
            state.mantissas[row, total] = old
            state.exponents[row, total] = power
    for i in range(first_of(plan, FOLD_GIVES, block), first_of(plan, FOLD_GIVES, block + 1), 2):
        total = plan[i + 1]
        state.leasts[row, total] = min(state.leasts[row, total], x[plan[i]])


@inlined
def _put(plan, pool, events, space, trees, event, block, row, m, e, x):
    for i in range(first_of(plan, STORES, block), first_of(plan, STORES, block + 1), 2):
        store, column = plan[i], plan[i + 1]
        if events.valid[column, event]:
            first = first_of(plan, STORE_LANES, store)
            lanes = first_of(plan, STORE_LANES, store + 1) - first
            for lane in range(lanes):
                space.work_m[lane] = m[plan[first + lane]]
                space.work_e[lane] = e[plan[first + lane]]
            first = first_of(plan, STORE_FOLDS, store)
            folds = first_of(plan, STORE_FOLDS, store + 1) - first
            for fold in range(folds):
                space.work_x[fold] = x[plan[first + fold]]
            key = events.orders[column, event]
            tree = row * trees + store
            insert(pool, tree, key, space.work_m, space.work_e, space.work_x, lanes)


# ---- windows end ---------------------------------------------------------------------------


@compiled
def _end_first(plan, state, pool, space, trees, slot):
    """Ends the oldest window of a partition: its results are whole, its trees are gone."""
    row = unlink_first(state, slot)
    for kleene in range(state.decisions.shape[0]):
        flush(plan, state, row, kleene, space.given_m, space.given_e)
        end(plan, state, row, kleene)
    for tree in range(trees):
        fell(pool, row * trees + tree)


@inlined
def _end_before(plan, state, pool, space, trees, events, event):
    """Ends the windows of time that an event shows to be over."""
    at = first_of(plan, WINDOW, 0)
    low = (events.points[event] - plan[at]) // plan[at + 1] + 1
    slot = events.slots[event]
    while state.slots[slot, 0] != NONE and state.rows[state.slots[slot, 0], WINDOW_OF] < low:
        _end_first(plan, state, pool, space, trees, slot)


@compiled
def _end_full(plan, state, pool, space, trees, events, event):
    """Ends the windows of events that an event has filled."""
    at = first_of(plan, WINDOW, 0)
    within, slide = plan[at], plan[at + 1]
    slot, past = events.slots[event], events.points[event] + 1
    row = state.slots[slot, 0]
    while row != NONE and state.rows[row, WINDOW_OF] * slide + within <= past:
        _end_first(plan, state, pool, space, trees, slot)
        row = state.slots[slot, 0]


@entry
def end_until(plan: Ints, state: State, pool: Pool, space: Space, watermark: Int) -> None:
    """Ends all windows of time that end at the watermark or before."""
    at = first_of(plan, WINDOW, 0)
    trees = pool.lanes.size
    last = (watermark - plan[at]) // plan[at + 1]
    for slot in range(state.slots.shape[0]):
        row = state.slots[slot, 0]
        while row != NONE and state.rows[row, WINDOW_OF] <= last:
            _end_first(plan, state, pool, space, trees, slot)
            row = state.slots[slot, 0]


@entry
def count_on(slots: Ints, times: Ints, since: Int, known: Ints, ordinals: Ints) -> None:
    """The ordinal of each event in its partition; -1 for events before the query came."""
    for i in range(slots.size):
        ordinals[i] = -1
        if times[i] >= since:
            ordinals[i] = known[slots[i], 2]
            known[slots[i], 2] += 1
