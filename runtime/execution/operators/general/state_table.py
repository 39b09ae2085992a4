"""Numbers the states of partial trends in the order in which they are reached.

A state is a set of positions (the last position of every binding of the trend) and the trend's
length, as far as LENGTH needs it. There is no table of steps: a step is computed from bits.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import Int, compiled, entry
from runtime.execution.operators.general.arena import (
    AHEAD,
    AWAITS,
    CROSSED,
    ENDS,
    FAULT,
    GRAINED,
    LENGTH,
    MASK,
    NOBODY,
    OUT_OF_STATES,
    PAIRED,
    STATES,
    SURE,
    Ints,
    TrendArena,
    first_cell,
)
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.tables import (
    FOLLOW,
    LAST_GUARD,
    NOTS_AFTER,
    NOTS_AHEAD,
    OPEN,
    PAIRED_WITH,
    GeneralTables,
)


@compiled
def state_of(tables: GeneralTables, s: TrendArena, mask: Int, length: Int) -> Int:
    """The number of a state, or NOBODY and a fault if a new one does not fit."""
    if not tables.subsets and tables.least == 1:
        return lowest(mask)  # see `number_positions`
    cell = first_cell(s.table, mask, length)
    while True:
        state = s.table[cell]
        if state == NOBODY:
            return _new_state(tables, s, mask, length, cell)
        if s.states[state, MASK] == mask and s.states[state, LENGTH] == length:
            return state
        cell = (cell + 1) & (len(s.table) - 1)


@entry
def number_positions(tables: GeneralTables, s: TrendArena) -> None:
    """If bindings are tracked one by one, a state is a position."""
    if not tables.subsets and tables.least == 1:
        for p in range(len(tables.at)):
            mask = np.int64(1) << p
            _new_state(tables, s, mask, np.int64(1), first_cell(s.table, mask, np.int64(1)))


@compiled
def _new_state(tables: GeneralTables, s: TrendArena, mask: Int, length: Int, cell: Int) -> Int:
    state = s.counters[STATES]
    if state == len(s.states):
        s.counters[FAULT] = OUT_OF_STATES
        return NOBODY
    s.counters[STATES] = state + 1
    s.table[cell] = state
    record = s.states[state]
    for a in range(len(record)):
        record[a] = 0
    record[MASK] = mask
    record[LENGTH] = length
    record[GRAINED] = mask & tables.grained
    rest = mask
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        record[AHEAD] |= tables.at[p, FOLLOW]
        record[CROSSED] |= tables.at[p, NOTS_AHEAD]
        record[PAIRED] |= tables.at[p, PAIRED_WITH]
        if tables.last >> p & 1 and length >= tables.least:
            _ends(tables, record, p)
    return state


@compiled
def _ends(tables: GeneralTables, record: Ints, p: Int) -> None:
    """ENDS: the sides on which a trend is complete; SURE: those without a NOT to await."""
    record[AWAITS] |= tables.at[p, NOTS_AFTER]
    side = 1 if tables.one_side >> p & 1 else 2
    record[ENDS] |= side
    if tables.at[p, LAST_GUARD] == OPEN:
        record[SURE] |= side
