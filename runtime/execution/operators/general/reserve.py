"""All or nothing: a group is taken when all that it creates has found room."""

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
    Pools,
    free_nodes,
)
from runtime.execution.operators.general.evict import without_sides
from runtime.execution.operators.general.plan import NEXT, Plan
from runtime.execution.operators.general.state_table import state_of


@compiled
def find_room(plan: Plan, s: Pools, window: Int, taken: Int) -> None:
    """Makes sure that what was staged can happen: finished trends that await a NOT need items of
    their own, and what leaves one side of `P & Q` may need a state and a node."""
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
    if plan.semantics == NEXT and plan.conjunctive and taken != 0:
        nodes += _make_rests(plan, s, window)
    if s.counters[FAULT] == OK:
        if s.counters[LEFT + ITEM] < items:
            s.counters[FAULT] = ITEM
        elif s.counters[LEFT + NODE] < nodes:
            s.counters[FAULT] = NODE


@compiled
def _make_rests(plan: Plan, s: Pools, window: Int) -> Int:
    count = 0
    node = s.windows[window, NODES]
    while node != NOBODY:
        state = s.nodes[node, STATE]
        item = s.nodes[node, HEAD]
        while item != NOBODY:
            gone = s.items[item, TAKEN]
            if gone != 0:
                mask = without_sides(plan, s.states[state, MASK], gone)
                if mask != 0:
                    count += 1
                    if state_of(plan, s, mask, s.states[state, LENGTH]) == NOBODY:
                        return count
            item = s.items[item, LINK]
        node = s.nodes[node, LINK]
    return count


@compiled
def undo(s: Pools, window: Int) -> None:
    free_nodes(s, s.counters[ENTERED])
    s.counters[ENTERED] = NOBODY
    node = s.windows[window, NODES]
    while node != NOBODY:
        item = s.nodes[node, HEAD]
        while item != NOBODY:
            s.items[item, TAKEN] = 0
            item = s.items[item, LINK]
        node = s.nodes[node, LINK]
