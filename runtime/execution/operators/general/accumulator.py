"""The count and lanes of many trends at once.

Accumulators can be added, and extending them by an event is linear. A sum is a double with an
exponent; MIN and MAX have an ordering key, and a 1 next to it if there is a value.
"""

from __future__ import annotations

from runtime.execution.jit import Double, Int, compiled
from runtime.execution.operators.general.arena import EXPONENT, NOBODY, VALUES, TrendArena
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.events import GeneralEvents
from runtime.execution.operators.general.tables import (
    AS_TEXT,
    FOLD,
    LEAST,
    ROW_OF,
    SUM,
    TOUCH,
    Doubles,
    GeneralTables,
    Ints,
)
from runtime.execution.wide_float import add, mul, normal


@compiled
def fold(
    tables: GeneralTables,
    ranks: Ints,
    j: Int,
    doubles: Doubles,
    at: Int,
    keys: Ints,
    place: Int,
    m: Double,
    e: Int,
) -> None:
    """Adds a value of lane j to the one at `doubles[at]`, `keys[place]`."""
    kind = tables.lane[j, FOLD]
    if kind == SUM:
        if m != 0.0:
            doubles[at], keys[place] = add(doubles[at], keys[place], m, e)
    elif m != 0.0:
        if doubles[at] == 0.0:
            doubles[at] = 1.0
            keys[place] = e
        else:
            known, new = keys[place], e
            if tables.lane[j, AS_TEXT]:
                known, new = ranks[known], ranks[new]
            if (new < known) == (kind == LEAST):
                keys[place] = e


@compiled
def add_item(tables: GeneralTables, s: TrendArena, ranks: Ints, to: Int, item: Int) -> None:
    """Adds the trends of one item to another of the same state."""
    numbers, more = s.item_numbers[to], s.item_numbers[item]
    keys, others = s.items[to], s.items[item]
    numbers[0], keys[EXPONENT] = add(numbers[0], keys[EXPONENT], more[0], others[EXPONENT])
    base = VALUES + tables.kept
    for row in range(tables.rows):
        for j in range(tables.lanes):
            k = row * tables.lanes + j
            fold(tables, ranks, j, numbers, 1 + k, keys, base + k, more[1 + k], others[base + k])


@compiled
def add_extended(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    to: Int,
    item: Int,
    reached: Int,
    row: Int,
) -> None:
    """Adds the trends of an item, each extended by one event, that now end in `reached`. Without
    an item (NOBODY), adds the trend of this event alone."""
    m, e = 1.0, 0
    if item != NOBODY:
        m, e = s.item_numbers[item, 0], s.items[item, EXPONENT]
    numbers, keys = s.item_numbers[to], s.items[to]
    numbers[0], keys[EXPONENT] = add(numbers[0], keys[EXPONENT], m, e)
    if tables.lanes == 0:
        return
    if tables.rows == 1:
        _extend_row(tables, s, ev, to, 0, item, 0, reached, row, m, e)
        return
    while reached != 0:
        q = lowest(reached)
        reached &= reached - 1
        before = tables.at[s.source[q], ROW_OF]
        _extend_row(tables, s, ev, to, tables.at[q, ROW_OF], item, before, 1 << q, row, m, e)


@compiled
def _extend_row(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    to: Int,
    to_row: Int,
    item: Int,
    item_row: Int,
    positions: Int,
    row: Int,
    m: Double,
    e: Int,
) -> None:
    base = VALUES + tables.kept
    for j in range(tables.lanes):
        a, b = to_row * tables.lanes + j, item_row * tables.lanes + j
        numbers, keys = s.item_numbers[to], s.items[to]
        if item != NOBODY:
            x, f = s.item_numbers[item, 1 + b], s.items[item, base + b]
            fold(tables, ev.ranks, j, numbers, 1 + a, keys, base + a, x, f)
        if tables.lane[j, TOUCH] & positions:
            x, f = ev.lanes[row, j], ev.keys[row, j]
            if tables.lane[j, FOLD] == SUM and x != 0.0:
                x, f = normal(x, f)
                x, f = mul(m, e, x, f)
            fold(tables, ev.ranks, j, numbers, 1 + a, keys, base + a, x, f)
