"""Opens and closes the windows of one partition.

A window opens with its first relevant event and closes when a later event or the watermark has
passed it. It produces an output row if it has any trend.
"""

from __future__ import annotations

from runtime.execution.jit import Double, Int, compiled
from runtime.execution.operators.general.arena import (
    AT,
    AWAITED,
    BEGIN,
    EARLIEST,
    FAULT,
    HEAD,
    LATEST,
    LINK,
    MASK,
    NEWEST,
    NOBODY,
    NODES,
    NUMBER,
    OK,
    OLDEST,
    OUT,
    OUT_EXPONENT,
    OUT_LANES,
    OUT_OF_OUTPUT,
    OUT_SLOT,
    OUT_WINDOW,
    STATE,
    TOTALS,
    TURN,
    WINDOW,
    TrendArena,
    allocate,
    free_nodes,
    release,
)
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.commit import add_total
from runtime.execution.operators.general.negation import alive_until, forget_threads, passes
from runtime.execution.operators.general.tables import (
    LAST_GUARD,
    OPEN,
    Doubles,
    GeneralTables,
    Ints,
)
from runtime.execution.wide_float import add, mul


@compiled
def open_window(tables: GeneralTables, s: TrendArena, slot: Int, number: Int, begin: Int) -> Int:
    """Appends a window after the newest one of the slot."""
    window = allocate(s.windows, s.counters, WINDOW)
    if window == NOBODY:
        return WINDOW
    record = s.windows[window]
    for a in range(len(record)):
        record[a] = 0
    for a in range(s.window_numbers.shape[1]):
        s.window_numbers[window, a] = 0.0
    record[LINK] = record[NODES] = record[AWAITED] = NOBODY
    record[TURN] = NOBODY
    record[NUMBER] = number
    record[BEGIN] = begin
    newest = s.slots[slot, NEWEST]
    if newest == NOBODY:
        s.slots[slot, OLDEST] = window
    else:
        s.windows[newest, LINK] = window
    s.slots[slot, NEWEST] = window
    s.counters[EARLIEST] = min(s.counters[EARLIEST], end_of(tables, number))
    return OK


@compiled
def end_of(tables: GeneralTables, number: Int) -> Int:
    return number * tables.slide + tables.within


@compiled
def close_until(tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, point: Int) -> Int:
    """Closes the windows of a slot that end at or before a time (or an ordinal)."""
    window = s.slots[slot, OLDEST]
    if window == NOBODY or end_of(tables, s.windows[window, NUMBER]) > point:
        return OK
    while window != NOBODY and end_of(tables, s.windows[window, NUMBER]) <= point:
        if s.counters[OUT] == len(s.out):
            s.counters[FAULT] = OUT_OF_OUTPUT
            return OUT_OF_OUTPUT
        _settle(tables, s, ranks, slot, window)
        _write(tables, s, slot, window)
        after = s.windows[window, LINK]
        free_nodes(s, s.windows[window, NODES])
        free_nodes(s, s.windows[window, AWAITED])
        release(s.windows, s.counters, WINDOW, window)
        s.slots[slot, OLDEST] = after
        if after == NOBODY:
            s.slots[slot, NEWEST] = NOBODY
        window = after
    if tables.listed != 0:
        forget_threads(tables, s, slot)
    return OK


@compiled
def _settle(tables: GeneralTables, s: TrendArena, ranks: Ints, slot: Int, window: Int) -> None:
    """Decides the trends that await a last NOT: the gap reaches to the end of the window."""
    end = end_of(tables, s.windows[window, NUMBER]) if tables.counted else LATEST
    node = s.windows[window, AWAITED]
    while node != NOBODY:
        state = s.nodes[node, STATE]
        item = s.nodes[node, HEAD]
        while item != NOBODY:
            alive = alive_until(tables, s, slot, s.items[item, AT], end)
            ends = _ends(tables, s.states[state, MASK], alive)
            if ends != 0:
                add_total(tables, s, ranks, window, state, item, ends)
            item = s.items[item, LINK]
        node = s.nodes[node, LINK]


@compiled
def _ends(tables: GeneralTables, mask: Int, alive: Int) -> Int:
    """The sides on which trends that end in these positions are accepted."""
    ends = 0
    rest = mask & tables.last
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        guard = tables.at[p, LAST_GUARD]
        if guard == OPEN or passes(tables, guard, alive):
            ends |= 1 if tables.one_side >> p & 1 else 2
    return ends


@compiled
def _write(tables: GeneralTables, s: TrendArena, slot: Int, window: Int) -> None:
    numbers, keys = s.window_numbers[window], s.windows[window]
    if tables.conjunctive:
        count, exponent = _pairs(numbers, keys)
    else:
        count, exponent = numbers[0], keys[TOTALS]
    if count == 0.0:
        return
    row = s.counters[OUT]
    s.counters[OUT] = row + 1
    s.out[row, OUT_WINDOW] = keys[NUMBER]
    s.out[row, OUT_SLOT] = slot
    s.out[row, OUT_EXPONENT] = exponent
    s.out_numbers[row, 0] = count
    for j in range(tables.lanes):
        s.out[row, OUT_LANES + j] = keys[TOTALS + 3 + j]
        s.out_numbers[row, 1 + j] = numbers[3 + j]


@compiled
def _pairs(numbers: Doubles, keys: Ints) -> tuple[Double, Int]:
    """The number of unordered pairs of different trends, one of each side (hamlet.txt section 5).
    All terms are non-negative integers, so each is exact if the result is."""
    one, e = numbers[0], keys[TOTALS]
    other, f = numbers[1], keys[TOTALS + 1]
    shared, g = numbers[2], keys[TOTALS + 2]
    m, k = mul(one, e, other, f)
    x, d = add(one, e, other, f)
    x, d = mul(x, d, shared, g)
    m, k = add(m, k, x, d)
    if shared != 0.0:
        less, d = add(shared, g, -1.0, 0)
        x, d = mul(shared, g, less, d)
        m, k = add(m, k, 0.5 * x, d)
    return m, k
