"""What is known of many trends at once: their count, and the lanes that ride along with it.

Laws as in `plain/bundle.py`: bundles add up, extending by an event is linear. A sum is a double
with an exponent; MIN and MAX have a key that orders, and a one beside it where there is a value.
"""

from __future__ import annotations

from runtime.execution.jit import Double, Int, compiled
from runtime.execution.operators.general.arena import EXPONENT, NOBODY, VALUES, Pools
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.events import Events
from runtime.execution.operators.general.plan import (
    AS_TEXT,
    FOLD,
    LEAST,
    ROW_OF,
    SUM,
    TOUCH,
    Doubles,
    Ints,
    Plan,
)
from runtime.execution.wide_float import add, mul, normal


@compiled
def fold(
    plan: Plan,
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
    kind = plan.lane[j, FOLD]
    if kind == SUM:
        if m != 0.0:
            doubles[at], keys[place] = add(doubles[at], keys[place], m, e)
    elif m != 0.0:
        if doubles[at] == 0.0:
            doubles[at] = 1.0
            keys[place] = e
        else:
            known, new = keys[place], e
            if plan.lane[j, AS_TEXT]:
                known, new = ranks[known], ranks[new]
            if (new < known) == (kind == LEAST):
                keys[place] = e


@compiled
def add_item(plan: Plan, s: Pools, ranks: Ints, to: Int, item: Int) -> None:
    """Adds the trends of one item to another of the same state."""
    numbers, more = s.item_numbers[to], s.item_numbers[item]
    keys, others = s.items[to], s.items[item]
    numbers[0], keys[EXPONENT] = add(numbers[0], keys[EXPONENT], more[0], others[EXPONENT])
    base = VALUES + plan.kept
    for row in range(plan.rows):
        for j in range(plan.lanes):
            k = row * plan.lanes + j
            fold(plan, ranks, j, numbers, 1 + k, keys, base + k, more[1 + k], others[base + k])


@compiled
def add_extended(
    plan: Plan, s: Pools, ev: Events, to: Int, item: Int, reached: Int, row: Int
) -> None:
    """Adds the trends of an item, each longer by one event, that now end in `reached`. Without an
    item (NOBODY) it is the trend of this event alone."""
    m, e = 1.0, 0
    if item != NOBODY:
        m, e = s.item_numbers[item, 0], s.items[item, EXPONENT]
    numbers, keys = s.item_numbers[to], s.items[to]
    numbers[0], keys[EXPONENT] = add(numbers[0], keys[EXPONENT], m, e)
    if plan.lanes == 0:
        return
    if plan.rows == 1:
        _extend_row(plan, s, ev, to, 0, item, 0, reached, row, m, e)
        return
    while reached != 0:
        q = lowest(reached)
        reached &= reached - 1
        before = plan.at[s.source[q], ROW_OF]
        _extend_row(plan, s, ev, to, plan.at[q, ROW_OF], item, before, 1 << q, row, m, e)


@compiled
def _extend_row(
    plan: Plan,
    s: Pools,
    ev: Events,
    to: Int,
    to_row: Int,
    item: Int,
    item_row: Int,
    positions: Int,
    row: Int,
    m: Double,
    e: Int,
) -> None:
    base = VALUES + plan.kept
    for j in range(plan.lanes):
        a, b = to_row * plan.lanes + j, item_row * plan.lanes + j
        numbers, keys = s.item_numbers[to], s.items[to]
        if item != NOBODY:
            x, f = s.item_numbers[item, 1 + b], s.items[item, base + b]
            fold(plan, ev.ranks, j, numbers, 1 + a, keys, base + a, x, f)
        if plan.lane[j, TOUCH] & positions:
            x, f = ev.lanes[row, j], ev.keys[row, j]
            if plan.lane[j, FOLD] == SUM and x != 0.0:
                x, f = normal(x, f)
                x, f = mul(m, e, x, f)
            fold(plan, ev.ranks, j, numbers, 1 + a, keys, base + a, x, f)
