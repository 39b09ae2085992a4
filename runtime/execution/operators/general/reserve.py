"""Reserves the records that a group of events needs before anything is committed."""

from __future__ import annotations

from runtime.execution.jit import Int, compiled
from runtime.execution.operators.general.arena import (
    ENDS,
    ENTERED,
    FAULT,
    HEAD,
    ITEM,
    LEFT,
    LENGTH,
    LINK,
    MASK,
    NOBODY,
    NODE,
    NODES,
    OK,
    STATE,
    SURE,
    TAKEN,
    TrendArena,
    free_nodes,
)
from runtime.execution.operators.general.evict import without_sides
from runtime.execution.operators.general.state_table import state_of
from runtime.execution.operators.general.tables import NEXT, GeneralTables


@compiled
def find_room(tables: GeneralTables, s: TrendArena, window: Int, taken: Int) -> None:
    """Ensures that the staged changes can be committed: finished trends that await a NOT need
    items of their own, and trends that leave one side of `P & Q` may need a state and a node."""
    items = nodes = 0
    node = s.counters[ENTERED]
    while node != NOBODY:
        state = s.nodes[node, STATE]
        if s.states[state, ENDS] != s.states[state, SURE]:
            nodes += 1
            item = s.nodes[node, HEAD]
            while item != NOBODY:
                items += 1
                item = s.items[item, LINK]
        node = s.nodes[node, LINK]
    if tables.semantics == NEXT and tables.conjunctive and taken != 0:
        nodes += _make_rests(tables, s, window)
    if s.counters[FAULT] == OK:
        if s.counters[LEFT + ITEM] < items:
            s.counters[FAULT] = ITEM
        elif s.counters[LEFT + NODE] < nodes:
            s.counters[FAULT] = NODE


@compiled
def _make_rests(tables: GeneralTables, s: TrendArena, window: Int) -> Int:
    count = 0
    node = s.windows[window, NODES]
    while node != NOBODY:
        state = s.nodes[node, STATE]
        item = s.nodes[node, HEAD]
        while item != NOBODY:
            gone = s.items[item, TAKEN]
            if gone != 0:
                mask = without_sides(tables, s.states[state, MASK], gone)
                if mask != 0:
                    count += 1
                    if state_of(tables, s, mask, s.states[state, LENGTH]) == NOBODY:
                        return count
            item = s.items[item, LINK]
        node = s.nodes[node, LINK]
    return count


@compiled
def undo(s: TrendArena, window: Int) -> None:
    free_nodes(s, s.counters[ENTERED])
    s.counters[ENTERED] = NOBODY
    node = s.windows[window, NODES]
    while node != NOBODY:
        item = s.nodes[node, HEAD]
        while item != NOBODY:
            s.items[item, TAKEN] = 0
            item = s.items[item, LINK]
        node = s.nodes[node, LINK]
