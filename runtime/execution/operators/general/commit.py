"""Moves staged trends into their window: into the node of their state, or into the totals."""

from __future__ import annotations

from runtime.execution.jit import Int, compiled
from runtime.execution.operators.general.accumulator import add_item, fold
from runtime.execution.operators.general.arena import (
    AHEAD,
    AT,
    AWAITED,
    AWAITS,
    CROSSED,
    ENDS,
    ENTERED,
    EXPONENT,
    GRAINED,
    HEAD,
    ITEM,
    LINK,
    MASK,
    NOBODY,
    NODE,
    NODES,
    STAMP,
    STATE,
    STAYING,
    STAYS,
    SURE,
    TAKEN,
    TOTALS,
    VALUES,
    TrendArena,
    allocate,
    free_node,
    release,
)
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.negation import told_apart
from runtime.execution.operators.general.tables import ROW_OF, GeneralTables, Ints
from runtime.execution.wide_float import add


@compiled
def enter(
    tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, window: Int, at: Int
) -> None:
    stamp = s.counters[STAMP]
    node = s.windows[window, NODES]
    while node != NOBODY:
        s.states[s.nodes[node, STATE], STAYS] = stamp
        s.states[s.nodes[node, STATE], STAYING] = node
        node = s.nodes[node, LINK]
    node = s.counters[ENTERED]
    s.counters[ENTERED] = NOBODY
    while node != NOBODY:
        after = s.nodes[node, LINK]
        state = s.nodes[node, STATE]
        item = s.nodes[node, HEAD]
        while item != NOBODY:
            s.items[item, AT] = at
            if s.states[state, ENDS] != 0:
                finish(tables, s, ranks, slot, window, state, item)
            item = s.items[item, LINK]
        if s.states[state, AHEAD] == 0:
            free_node(s, node)
        elif s.states[state, STAYS] == stamp:
            _join(tables, s, ranks, slot, s.states[state, STAYING], node)
        else:
            s.nodes[node, LINK] = s.windows[window, NODES]
            s.windows[window, NODES] = node
        node = after


@compiled
def _join(tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, to: Int, node: Int) -> None:
    """Moves the items of a node to another one of the same state."""
    crossed = s.states[s.nodes[node, STATE], CROSSED]
    item = s.nodes[node, HEAD]
    while item != NOBODY:
        after = s.items[item, LINK]
        put(tables, s, ranks, slot, to, crossed, item)
        item = after
    release(s.nodes, s.counters, NODE, node)


@compiled
def put(
    tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, node: Int, nots: Int, item: Int
) -> None:
    """Adds an item to a node, or its trends to an equivalent item there."""
    state = s.nodes[node, STATE]
    head = s.nodes[node, HEAD]
    if head == NOBODY or s.states[state, GRAINED] != 0:
        s.items[item, LINK] = head
        s.nodes[node, HEAD] = item
    elif nots == 0:
        add_item(tables, s, ranks, head, item)
        release(s.items, s.counters, ITEM, item)
    else:
        put_by_instant(tables, s, ranks, slot, node, nots, item)


@compiled
def put_by_instant(
    tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, node: Int, nots: Int, item: Int
) -> None:
    """Items are ordered, the latest first. Items that no NOT can distinguish are merged, so there
    are never more of them than relevant starts of negated matches."""
    at = s.items[item, AT]
    before, after = NOBODY, s.nodes[node, HEAD]
    while after != NOBODY and s.items[after, AT] > at:
        before, after = after, s.items[after, LINK]
    if after != NOBODY and not told_apart(tables, s, slot, nots, s.items[after, AT], at):
        add_item(tables, s, ranks, after, item)
        release(s.items, s.counters, ITEM, item)
        return
    s.items[item, LINK] = after
    if before == NOBODY:
        s.nodes[node, HEAD] = item
    else:
        s.items[before, LINK] = item
    newer = s.nodes[node, HEAD]
    older = s.items[newer, LINK]
    while older != NOBODY:
        if told_apart(tables, s, slot, nots, s.items[older, AT], s.items[newer, AT]):
            newer = older
        else:
            add_item(tables, s, ranks, newer, older)
            s.items[newer, LINK] = s.items[older, LINK]
            release(s.items, s.counters, ITEM, older)
        older = s.items[newer, LINK]


@compiled
def finish(
    tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, window: Int, state: Int, item: Int
) -> None:
    ends = s.states[state, ENDS]
    if ends == s.states[state, SURE]:
        add_total(tables, s, ranks, window, state, item, ends)
        return
    node = s.windows[window, AWAITED]
    while node != NOBODY and s.nodes[node, STATE] != state:
        node = s.nodes[node, LINK]
    if node == NOBODY:
        node = allocate(s.nodes, s.counters, NODE)
        s.nodes[node, STATE] = state
        s.nodes[node, HEAD] = NOBODY
        s.nodes[node, LINK] = s.windows[window, AWAITED]
        s.windows[window, AWAITED] = node
    copy = allocate(s.items, s.counters, ITEM)
    for a in range(s.items.shape[1]):
        s.items[copy, a] = s.items[item, a]
    for a in range(s.item_numbers.shape[1]):
        s.item_numbers[copy, a] = s.item_numbers[item, a]
    s.items[copy, TAKEN] = 0
    if s.nodes[node, HEAD] == NOBODY:
        s.items[copy, LINK] = NOBODY
        s.nodes[node, HEAD] = copy
    else:
        put_by_instant(tables, s, ranks, slot, node, s.states[state, AWAITS], copy)


@compiled
def add_total(
    tables: GeneralTables, s: TrendArena, ranks: Ints, window: Int, state: Int, item: Int, ends: Int
) -> None:
    """Adds complete trends to the window's total of those that end on these sides."""
    numbers, keys = s.window_numbers[window], s.windows[window]
    count, exponent = s.item_numbers[item, 0], s.items[item, EXPONENT]
    at, place = ends - 1, TOTALS + ends - 1
    numbers[at], keys[place] = add(numbers[at], keys[place], count, exponent)
    row = tables.at[lowest(s.states[state, MASK] & tables.last), ROW_OF] if tables.rows > 1 else 0
    base = VALUES + tables.kept
    for j in range(tables.lanes):
        k = row * tables.lanes + j
        m, e = s.item_numbers[item, 1 + k], s.items[item, base + k]
        fold(tables, ranks, j, numbers, 3 + j, keys, TOTALS + 3 + j, m, e)
