"""Removes partial trends that an event extends, under skip-till-next-match."""

from __future__ import annotations

from runtime.execution.jit import Int, compiled
from runtime.execution.operators.general.arena import (
    AHEAD,
    CROSSED,
    HEAD,
    ITEM,
    LENGTH,
    LINK,
    MASK,
    NOBODY,
    NODE,
    NODES,
    STATE,
    TAKEN,
    TrendArena,
    allocate,
    release,
)
from runtime.execution.operators.general.commit import put
from runtime.execution.operators.general.state_table import state_of
from runtime.execution.operators.general.tables import GeneralTables, Ints


@compiled
def without_sides(tables: GeneralTables, mask: Int, gone: Int) -> Int:
    if gone & 1:
        mask &= ~tables.one_side
    if gone & 2:
        mask &= ~tables.other_side
    return mask


@compiled
def leave(tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, window: Int) -> None:
    """Removes the extended trends; for `P & Q` they may stay as trends of the other side."""
    moved = _take_out(tables, s, window)
    while moved != NOBODY:
        after = s.items[moved, LINK]
        state = s.items[moved, TAKEN]
        s.items[moved, TAKEN] = 0
        _stay(tables, s, ranks, slot, window, state, moved)
        moved = after


@compiled
def _take_out(tables: GeneralTables, s: TrendArena, window: Int) -> Int:
    """Removes the extended items from their nodes and returns those that stay on one side, with
    their new states."""
    moved = NOBODY
    before, node = NOBODY, s.windows[window, NODES]
    while node != NOBODY:
        following = s.nodes[node, LINK]
        kept, item = NOBODY, s.nodes[node, HEAD]
        s.nodes[node, HEAD] = NOBODY
        while item != NOBODY:
            after = s.items[item, LINK]
            gone = s.items[item, TAKEN]
            if gone == 0:
                if kept == NOBODY:
                    s.nodes[node, HEAD] = item
                else:
                    s.items[kept, LINK] = item
                s.items[item, LINK] = NOBODY
                kept = item
            else:
                rest = _rest(tables, s, s.nodes[node, STATE], gone)
                if rest == NOBODY:
                    release(s.items, s.counters, ITEM, item)
                else:
                    s.items[item, TAKEN] = rest
                    s.items[item, LINK] = moved
                    moved = item
            item = after
        if s.nodes[node, HEAD] == NOBODY:
            release(s.nodes, s.counters, NODE, node)
            if before == NOBODY:
                s.windows[window, NODES] = following
            else:
                s.nodes[before, LINK] = following
        else:
            before = node
        node = following
    return moved


@compiled
def _rest(tables: GeneralTables, s: TrendArena, state: Int, gone: Int) -> Int:
    mask = without_sides(tables, s.states[state, MASK], gone)
    if mask == 0:
        return NOBODY
    rest = state_of(tables, s, mask, s.states[state, LENGTH])
    return rest if s.states[rest, AHEAD] != 0 else NOBODY


@compiled
def _stay(
    tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, window: Int, state: Int, item: Int
) -> None:
    node = s.windows[window, NODES]
    while node != NOBODY and s.nodes[node, STATE] != state:
        node = s.nodes[node, LINK]
    if node == NOBODY:
        node = allocate(s.nodes, s.counters, NODE)
        s.nodes[node, STATE] = state
        s.nodes[node, HEAD] = NOBODY
        s.nodes[node, LINK] = s.windows[window, NODES]
        s.windows[window, NODES] = node
    put(tables, s, ranks, slot, node, s.states[state, CROSSED], item)
