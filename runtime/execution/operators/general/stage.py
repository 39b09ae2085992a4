"""Stages the trends that a group of equal instants creates, from the state before the group.

This way, events of one instant are never adjacent in a trend.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import Int, compiled
from runtime.execution.operators.general.accumulator import add_extended
from runtime.execution.operators.general.arena import (
    AHEAD,
    AT,
    BEGIN,
    CROSSED,
    ENTERED,
    ENTERING,
    ENTERS,
    EXPONENT,
    FAULT,
    GRAINED,
    HEAD,
    ITEM,
    LENGTH,
    LINK,
    MASK,
    NOBODY,
    NODE,
    NODES,
    NULLS,
    OK,
    STAMP,
    STATE,
    TAKEN,
    VALUES,
    TrendArena,
    allocate,
)
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.events import GeneralEvents
from runtime.execution.operators.general.negation import alive_since, passes
from runtime.execution.operators.general.predicate_vm import adjacent_conditions_hold
from runtime.execution.operators.general.state_table import state_of
from runtime.execution.operators.general.tables import (
    FIRST_GUARD,
    FOLLOW,
    GUARD,
    NEXT,
    OPEN,
    PAIRED_WITH,
    GeneralTables,
)


@compiled
def extend(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    window: Int,
    mask: Int,
    row: Int,
) -> Int:
    """Returns non-zero if any trend was extended."""
    extended = 0
    node = s.windows[window, NODES]
    while node != NOBODY and s.counters[FAULT] == OK:
        state = s.nodes[node, STATE]
        if s.states[state, AHEAD] & mask != 0:
            extended |= _extend_node(tables, s, ev, slot, node, state, mask, row)
        node = s.nodes[node, LINK]
    return extended


@compiled
def _extend_node(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    node: Int,
    state: Int,
    mask: Int,
    row: Int,
) -> Int:
    extended = 0
    guarded = s.states[state, CROSSED] != 0
    length = min(s.states[state, LENGTH] + 1, tables.least)
    known, to = 0, NOBODY
    item = s.nodes[node, HEAD]
    while item != NOBODY:
        alive = alive_since(tables, s, slot, s.items[item, AT]) if guarded else 0
        reached = _reached(tables, s, ev, state, item, mask, row, alive)
        if reached != 0:
            extended |= reached
            if tables.semantics == NEXT:
                s.items[item, TAKEN] |= _sides(tables, reached)
            if reached == known:  # most items of a node reach the same state
                add_extended(tables, s, ev, to, item, reached, row)
            else:
                to = _stage(tables, s, ev, item, reached, length, row)
                if to == NOBODY:
                    break
                known = reached if tables.subsets or reached & (reached - 1) == 0 else 0
        item = s.items[item, LINK]
    return extended


@compiled
def _reached(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    state: Int,
    item: Int,
    mask: Int,
    row: Int,
    alive: Int,
) -> Int:
    """The positions that this event can have in trends of an item. Records for each of them the
    first possible predecessor."""
    reached = 0
    rest = s.states[state, MASK]
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        ahead = tables.at[p, FOLLOW] & mask & ~reached
        while ahead != 0:
            q = lowest(ahead)
            ahead &= ahead - 1
            guard = tables.steps[p, q, GUARD]
            if guard != OPEN and not passes(tables, guard, alive):
                continue
            if tables.at[p, PAIRED_WITH] >> q & 1 and not adjacent_conditions_hold(
                tables, s, ev, p, q, s.items, item, row
            ):
                continue
            reached |= 1 << q
            s.source[q] = p
    return reached


@compiled
def start(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    window: Int,
    mask: Int,
    row: Int,
) -> None:
    alive = alive_since(tables, s, slot, s.windows[window, BEGIN] - 1)
    reached = 0
    rest = mask & tables.first
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        guard = tables.at[p, FIRST_GUARD]
        if guard == OPEN or passes(tables, guard, alive):
            reached |= 1 << p
            s.source[p] = p
    if reached != 0:
        _stage(tables, s, ev, np.int64(NOBODY), reached, min(np.int64(1), tables.least), row)


@compiled
def _stage(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    item: Int,
    reached: Int,
    length: Int,
    row: Int,
) -> Int:
    """Stages the successors of an item's trends: one set of positions, or one for each binding.
    Returns the item that they were last added to, or NOBODY and a fault."""
    if tables.subsets:
        to = _entering(tables, s, ev, reached, length, row)
        if to != NOBODY:
            add_extended(tables, s, ev, to, item, reached, row)
        return to
    to = NOBODY
    while reached != 0:
        position = reached & -reached
        reached &= reached - 1
        to = _entering(tables, s, ev, position, length, row)
        if to == NOBODY:
            break
        add_extended(tables, s, ev, to, item, position, row)
    return to


@compiled
def _entering(
    tables: GeneralTables, s: TrendArena, ev: GeneralEvents, mask: Int, length: Int, row: Int
) -> Int:
    """The staged item of a state (and of an event if its values are kept)."""
    state = state_of(tables, s, mask, length)
    if state == NOBODY:
        return NOBODY
    if s.states[state, ENTERS] == s.counters[STAMP]:
        node = s.states[state, ENTERING]
        item = s.nodes[node, HEAD]
        # Until the group is done, AT is the row.
        if s.states[state, GRAINED] == 0 or s.items[item, AT] == row:
            return item
    else:
        node = allocate(s.nodes, s.counters, NODE)
        if node == NOBODY:
            return NOBODY
        s.nodes[node, LINK] = s.counters[ENTERED]
        s.nodes[node, STATE] = state
        s.nodes[node, HEAD] = NOBODY
        s.counters[ENTERED] = node
        s.states[state, ENTERS] = s.counters[STAMP]
        s.states[state, ENTERING] = node
    item = allocate(s.items, s.counters, ITEM)
    if item != NOBODY:
        _clear(tables, s, item)
        s.items[item, LINK] = s.nodes[node, HEAD]
        s.items[item, AT] = row
        s.nodes[node, HEAD] = item
        if s.states[state, GRAINED] != 0:
            s.items[item, NULLS] = ev.values[row, 0]
            for a in range(tables.kept):
                s.items[item, VALUES + a] = ev.values[row, 1 + a]
    return item


@compiled
def _clear(tables: GeneralTables, s: TrendArena, item: Int) -> None:
    for a in range(EXPONENT, s.items.shape[1]):
        s.items[item, a] = 0
    for a in range(s.item_numbers.shape[1]):
        s.item_numbers[item, a] = 0.0


@compiled
def _sides(tables: GeneralTables, mask: Int) -> Int:
    sides = 0
    if mask & tables.one_side:
        sides = 1
    if mask & tables.other_side:
        sides |= 2
    return sides
