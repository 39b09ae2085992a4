"""A Kleene state that several queries share under adjacent comparisons.

The count of an event in the state is a linear expression over *snapshots*: variables with a value
for each query. A snapshot is created when the trends that enter the state have changed, and for an
event whose predecessors differ between queries (the z of hamlet.txt table 5): that event's count is
the new variable. Trees hold the factors of snapshots, not the counts of queries: one lane for each
snapshot, and one more for each summed attribute, since a sum grows with the count:

    count = sum of c[s] * count[s],    sum = sum of c[s] * sum[s] + d[s] * count[s]

The state's contribution to totals is pending as a sum of factors until something reads them.

If snapshots would cost more than they save, the state **splits** for the rest of the window: the
factors of its events are evaluated once, and from then on a tree holds the queries' own numbers.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import compiled, inlined
from runtime.execution.operators.range_index.node_arena import (
    FIRST_LEAF,
    HEAD,
    INNER,
    KIND,
    LEAF,
    MOST_NODES,
    NEXT,
    NONE,
    ROOT,
    SIZE,
    exponents_at,
    fell,
    mantissas_at,
    node_words,
)
from runtime.execution.operators.range_index.tables import (
    GIVES,
    K_BLOCK,
    K_INTS,
    K_LIMIT,
    K_PENDING,
    K_STORE,
    K_TREE,
    K_WIDTH,
    MEMBERS,
    S_COUNT,
    S_CURRENT,
    S_SEEN,
    S_VERSION,
    STATE_INTS,
    STORE_LANES,
    TOUCHED,
    column_of,
    first_of,
)
from runtime.execution.operators.range_index.wide_tree import gather, insert
from runtime.execution.operators.range_index.window_rows import free_snapshot, new_snapshot
from runtime.execution.wide_float import add, mul, normal

MEMBER = 4  # columns of a row of MEMBERS


@compiled
def begin(tables, state, row, kleene):
    """Starts without a snapshot; the first event creates one of the entering trends."""
    at = column_of(tables, kleene, K_INTS)
    state.kleenes[row, at + S_CURRENT] = -1
    state.kleenes[row, at + S_SEEN] = -1


@compiled
def end(tables, state, row, kleene):
    """Frees the snapshots of a row."""
    at = column_of(tables, kleene, K_INTS)
    for s in range(state.kleenes[row, at + S_COUNT]):
        free_snapshot(state, state.kleenes[row, at + STATE_INTS + s])
    state.kleenes[row, at + S_COUNT] = 0


@inlined
def stir(tables, state, row, kleene):
    """Records that the trends that enter the state have changed."""
    state.kleenes[row, column_of(tables, kleene, K_INTS) + S_VERSION] += 1


@compiled
def gather_factors(arena, tree, count, width, key, parts, places, m, e, start):
    """Adds the factors of a range to `m, e` from `start` on, snapshot by snapshot. `tree` is the
    first tree of the state, `places` are the numbers from 0 up."""
    none, held = places[:0], 0
    while held < count:
        size = max(held, 1)
        used = min(size, count - held) * width
        first = start + held * width
        if arena.trees[tree, ROOT] != NONE:
            lanes = places[:used]
            part_m, part_e = m[first : first + used], e[first : first + used]
            gather(arena, tree, key, parts, lanes, lanes, none, none, part_m, part_e, none)
        held += size
        tree += 1


@compiled
def put_factors(arena, tree, count, width, key, m, e, places):
    """Inserts an event's factors into the trees of the snapshots that it depends on."""
    held = 0
    while held < count:
        size = max(held, 1)
        used = min(size, count - held) * width
        first = held * width
        some = False
        for i in range(first, first + used, width):
            some = some or m[i] != 0.0
        if some:
            part_m, part_e = m[first : first + used], e[first : first + used]
            insert(arena, tree, key, part_m, part_e, places[:0], used)
        held += size
        tree += 1


@inlined
def is_zero(m, start, stop):
    zero = True
    for i in range(start, stop):
        zero = zero and m[i] == 0.0
    return zero


@compiled
def expand(tables, state, known, width, member, m, e, start, into_m, into_e, place):
    """Adds the value of an expression to a number: `m, e` from `start` on are its factors, `known`
    is the state of the kleene, `member` the row of MEMBERS to evaluate."""
    number, count, touched = tables[member], tables[member + 1], tables[member + 3]
    snapshots, powers = state.snapshots, state.snapshot_powers
    total, power = into_m[place], np.int64(into_e[place])
    for s in range(known[S_COUNT]):
        snapshot = known[STATE_INTS + s]
        factor = start + s * width
        if m[factor] != 0.0:
            value, scale = snapshots[snapshot, number], np.int64(powers[snapshot, number])
            value, scale = mul(m[factor], np.int64(e[factor]), value, scale)
            total, power = add(total, power, value, scale)
        factor += 1 + touched
        if touched >= 0 and m[factor] != 0.0:
            value, scale = snapshots[snapshot, count], np.int64(powers[snapshot, count])
            value, scale = mul(m[factor], np.int64(e[factor]), value, scale)
            total, power = add(total, power, value, scale)
    into_m[place] = total
    into_e[place] = power


@compiled
def flush(tables, state, row, kleene, work_m, work_e):
    """Adds the pending factors to the totals."""
    width, at = column_of(tables, kleene, K_WIDTH), column_of(tables, kleene, K_PENDING)
    count = state.kleenes[row, column_of(tables, kleene, K_INTS) + S_COUNT]
    stop = at + count * width
    if is_zero(state.pending[row], at, stop):
        return
    block = column_of(tables, kleene, K_BLOCK)
    first, members = first_of(tables, MEMBERS, kleene), first_of(tables, MEMBERS, kleene + 1)
    known = state.kleenes[row, column_of(tables, kleene, K_INTS) :]
    pending, powers = state.pending[row], state.pending_powers[row]
    for member in range(first, members, MEMBER):
        place = (member - first) // MEMBER
        work_m[place] = 0.0
        work_e[place] = 0
        expand(
            tables, state, known, width, member,
            pending, powers, at, work_m, work_e, place,
        )  # fmt: skip
    for i in range(first_of(tables, GIVES, block), first_of(tables, GIVES, block + 1), 2):
        number, total = tables[i], tables[i + 1]
        m, e = state.mantissas[row, total], np.int64(state.exponents[row, total])
        m, e = add(m, e, work_m[number], work_e[number])
        state.mantissas[row, total] = m
        state.exponents[row, total] = e
    state.pending[row, at:stop] = 0.0
    state.pending_powers[row, at:stop] = 0


@compiled
def words_to_split(tables, arena, row, trees, kleene):
    """The most words that the tree of the queries' own numbers needs for all entries."""
    entries, tree, held = 0, row * trees + column_of(tables, kleene, K_TREE), 0
    while held < column_of(tables, kleene, K_LIMIT):
        leaf = arena.trees[tree, FIRST_LEAF] if arena.trees[tree, ROOT] != NONE else NONE
        while leaf != NONE:
            entries += arena.words[leaf + SIZE]
            leaf = arena.words[leaf + NEXT]
        held += max(held, 1)
        tree += 1
    store = column_of(tables, kleene, K_STORE)
    leaf = node_words(arena.capacities, arena.lanes, arena.folds, store, LEAF)
    inner = node_words(arena.capacities, arena.lanes, arena.folds, store, INNER)
    # A leaf is split when it is full, so most are half full; this is a safe upper bound.
    return entries // 8 * leaf + (entries // 128 + MOST_NODES) * inner


@compiled
def split(tables, state, arena, row, trees, kleene, wm, we, gm, ge):
    """Moves all entries to the tree of the queries' own numbers and frees all snapshots."""
    flush(tables, state, row, kleene, gm, ge)
    width = column_of(tables, kleene, K_WIDTH)
    known = state.kleenes[row, column_of(tables, kleene, K_INTS) :]
    store = column_of(tables, kleene, K_STORE)
    first_lane = first_of(tables, STORE_LANES, store)
    lanes = first_of(tables, STORE_LANES, store + 1) - first_lane
    first, last = first_of(tables, MEMBERS, kleene), first_of(tables, MEMBERS, kleene + 1)
    count = known[S_COUNT]
    tree, held = row * trees + column_of(tables, kleene, K_TREE), 0
    while held < count:
        size = max(held, 1)
        leaf = arena.trees[tree, FIRST_LEAF] if arena.trees[tree, ROOT] != NONE else NONE
        wm[: count * width] = 0.0
        we[: count * width] = 0
        while leaf != NONE:
            capacity = arena.capacities[arena.words[leaf + KIND]]
            for i in range(arena.words[leaf + SIZE]):
                for lane in range(min(size, count - held) * width):
                    place = mantissas_at(leaf, capacity, lane) + i
                    wm[held * width + lane] = arena.reals[place]
                    place = exponents_at(leaf, capacity, size * width, lane) + i
                    we[held * width + lane] = arena.halves[place]
                for member in range(first, last, MEMBER):
                    number = tables[member]
                    gm[number] = 0.0
                    ge[number] = 0
                    expand(
                        tables, state, known, width, member,
                        wm, we, 0, gm, ge, number,
                    )  # fmt: skip
                # There are as many numbers as lanes; the memory behind them is for reordering.
                for lane in range(lanes):
                    gm[lanes + lane] = gm[tables[first_lane + lane]]
                    ge[lanes + lane] = ge[tables[first_lane + lane]]
                key = arena.words[leaf + HEAD + i]
                own_m, own_e = gm[lanes : 2 * lanes], ge[lanes : 2 * lanes]
                insert(arena, row * trees + store, key, own_m, own_e, tables[:0], lanes)
            leaf = arena.words[leaf + NEXT]
        fell(arena, tree)
        held += size
        tree += 1
    end(tables, state, row, kleene)


@compiled
def add_snapshot(tables, state, row, kleene, m, e, start):
    """Creates a snapshot with the values of `m, e` from `start` on; returns its index."""
    at = column_of(tables, kleene, K_INTS)
    place = state.kleenes[row, at + S_COUNT]
    snapshot = new_snapshot(state)
    size = (first_of(tables, MEMBERS, kleene + 1) - first_of(tables, MEMBERS, kleene)) // MEMBER
    for i in range(size):
        state.snapshots[snapshot, i] = m[start + i]
        state.snapshot_powers[snapshot, i] = e[start + i]
    state.kleenes[row, at + STATE_INTS + place] = snapshot
    state.kleenes[row, at + S_COUNT] = place + 1
    return place


@compiled
def touch_factors(tables, kleene, count, width, values, event, m, e):
    """Adds an event's own values: each factor of a sum grows by the value times the count's."""
    first = first_of(tables, TOUCHED, kleene)
    for t in range(width - 1):
        value, scale = own_value(tables[first + 2 * t], tables[first + 2 * t + 1], values, event)
        if value != 0.0:
            for s in range(count):
                at = s * width
                by, power = mul(m[at], np.int64(e[at]), value, scale)
                place = at + 1 + t
                m[place], e[place] = add(m[place], np.int64(e[place]), by, power)


@inlined
def own_value(column, ones, values, event):
    """The number that an event adds to a sum for each trend: its value, or 1; 0 for null."""
    value = 1.0
    if column >= 0:
        value = values[column, event]
        if np.isnan(value):
            value = 0.0
        elif ones:
            value = 1.0
    return normal(value, np.int64(0))


@compiled
def wait(pending, powers, count, m, e):
    """Adds an event's factors to the pending ones."""
    for i in range(count):
        old, power = add(pending[i], np.int64(powers[i]), m[i], np.int64(e[i]))
        pending[i] = old
        powers[i] = power
