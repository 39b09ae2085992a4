"""The state of one query: flat arrays of records that refer to each other by index.

    slot -> open windows, in order -> nodes, one for each state -> items -> (next item)

A *slot* is a partition. A *node* holds the partial trends of one state (a set of positions and a
capped length), split into *items*: by event if its values are kept; by instant if a NOT can
distinguish instants; otherwise one item. *Threads* are partial matches of negated patterns. Unused
records are in free lists. Arrays grow in Python, between two calls of the kernel: a kernel that
runs out of records undoes its unfinished step and returns what it needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import Int, compiled, entry
from runtime.execution.operators.general.tables import GeneralTables

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

# Every record that can be free has its link in the first column.
LINK = 0
# Items and threads; then the kept values, then (items) the exponents or keys of the lanes.
AT, EXPONENT, TAKEN, NULLS, VALUES = range(1, 6)
START = EXPONENT
# Nodes.
STATE, HEAD = range(1, 3)
# Windows; then the exponents of three totals (by sides of the pattern) and of the lanes.
NUMBER, BEGIN, NODES, AWAITED, TURN, TOTALS = range(1, 7)
# Slots; then for each NOT the latest start of a complete match, then the places of partial ones.
OLDEST, NEWEST, SEEN, TURNS, TAU = range(5)
# States.
MASK, LENGTH, AHEAD, CROSSED, AWAITS, ENDS, SURE, GRAINED, PAIRED = range(9)
# The current nodes of a state: the staged node with the stamp of the group for which it is valid,
# then the same for the window's node.
ENTERS, ENTERING, STAYS, STAYING = range(9, 13)
STATE_COLUMNS = 13
# Moves of negated patterns in a group.
POSITION, BEGUN, ROW, ORDINAL = range(4)
# Output rows; then the keys or exponents of the lanes.
OUT_WINDOW, OUT_SLOT, OUT_EXPONENT, OUT_LANES = range(4)

# Counters of the kernel: heads of free lists, and the number of free records in each.
ITEM, NODE, WINDOW, THREAD = range(4)
LEFT = 4
STATES, OUT, MOVES, STAMP, ENTERED, FAULT, EARLIEST = range(8, 15)
COUNTERS = 15

# What the kernel can run out of; the first four are the pools.
OK, OUT_OF_STATES, OUT_OF_OUTPUT, OUT_OF_MOVES = -1, 4, 5, 6

NOBODY = -1
LATEST = 2**63 - 1


class TrendArena(NamedTuple):
    slots: Ints
    items: Ints
    item_numbers: Doubles
    nodes: Ints
    windows: Ints
    window_numbers: Doubles
    threads: Ints
    states: Ints
    table: Ints
    out: Ints
    out_numbers: Doubles
    moves: Ints
    counters: Ints
    source: Ints
    registers: Ints


def new_arena(tables: GeneralTables) -> TrendArena:
    small = 16
    lanes = tables.rows * tables.lanes
    pools = TrendArena(
        slots=_slots(tables, 0),
        items=np.zeros((small, VALUES + tables.kept + lanes), np.int64),
        item_numbers=np.zeros((small, 1 + lanes)),
        nodes=np.zeros((small, 3), np.int64),
        windows=np.zeros((small, TOTALS + 3 + tables.lanes), np.int64),
        window_numbers=np.zeros((small, 3 + tables.lanes)),
        threads=np.zeros((small, VALUES + tables.kept), np.int64),
        states=np.zeros((64, STATE_COLUMNS), np.int64),
        table=np.full(128, NOBODY, np.int64),
        out=np.zeros((small, OUT_LANES + tables.lanes), np.int64),
        out_numbers=np.zeros((small, 1 + tables.lanes)),
        moves=np.zeros((small, 4), np.int64),
        counters=np.zeros(COUNTERS, np.int64),
        source=np.zeros(64, np.int64),
        registers=np.zeros((tables.registers, 2), np.int64),
    )
    for pool, records in enumerate(_pooled(pools)):
        pools.counters[pool] = NOBODY
        _chain(records, 0, pools.counters, pool)
    pools.counters[EARLIEST] = LATEST
    return pools


def grown(pools: TrendArena, need: int) -> TrendArena:
    """The same state with twice the capacity for the needed records."""
    if need < LEFT:
        names = ("items", "nodes", "windows", "threads")
        numbers = {ITEM: "item_numbers", WINDOW: "window_numbers"}.get(need)
        records = getattr(pools, names[need])
        larger = {names[need]: _doubled(records)}
        if numbers is not None:
            larger[numbers] = _doubled(getattr(pools, numbers))
        _chain(larger[names[need]], len(records), pools.counters, need)
        return pools._replace(**larger)
    if need == OUT_OF_STATES:
        states = _doubled(pools.states)
        table = np.full(2 * len(states), NOBODY, np.int64)
        for state in range(pools.counters[STATES]):
            table[_free_cell(table, states[state, MASK], states[state, LENGTH])] = state
        return pools._replace(states=states, table=table)
    if need == OUT_OF_OUTPUT:
        return pools._replace(out=_doubled(pools.out), out_numbers=_doubled(pools.out_numbers))
    return pools._replace(moves=_doubled(pools.moves))


def with_slots(tables: GeneralTables, pools: TrendArena, capacity: int) -> TrendArena:
    known = len(pools.slots)
    if capacity <= known:
        return pools
    slots = _slots(tables, max(capacity, 2 * known))
    slots[:known] = pools.slots
    return pools._replace(slots=slots)


def _slots(tables: GeneralTables, size: int) -> Ints:
    slots = np.full((size, TAU + tables.nots + tables.places), NOBODY, np.int64)
    slots[:, SEEN] = slots[:, TURNS] = 0
    return slots


def _pooled(pools: TrendArena) -> tuple[Ints, ...]:
    return pools.items, pools.nodes, pools.windows, pools.threads


def _doubled(records: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.concatenate([records, np.zeros_like(records)])


def _chain(records: npt.NDArray[Any], start: int, counters: Ints, pool: int) -> None:
    """Puts all records from `start` on in front of a free list."""
    records[start:, LINK] = np.arange(start + 1, len(records) + 1)
    records[-1, LINK] = counters[pool]
    counters[pool] = start
    counters[LEFT + pool] += len(records) - start


@compiled
def allocate(records: Ints, counters: Ints, pool: Int) -> Int:
    """A free record; if there is none, NOBODY and a fault."""
    record = counters[pool]
    if record == NOBODY:
        counters[FAULT] = pool
    else:
        counters[pool] = records[record, LINK]
        counters[LEFT + pool] -= 1
    return record


@compiled
def release(records: Ints, counters: Ints, pool: Int, record: Int) -> None:
    records[record, LINK] = counters[pool]
    counters[pool] = record
    counters[LEFT + pool] += 1


@compiled
def free_node(s: TrendArena, node: Int) -> None:
    """Frees a node with all its items."""
    item = s.nodes[node, HEAD]
    while item != NOBODY:
        after = s.items[item, LINK]
        release(s.items, s.counters, ITEM, item)
        item = after
    release(s.nodes, s.counters, NODE, node)


@compiled
def free_nodes(s: TrendArena, node: Int) -> None:
    while node != NOBODY:
        after = s.nodes[node, LINK]
        free_node(s, node)
        node = after


@entry
def _free_cell(table: Ints, mask: Int, length: Int) -> Int:
    """The cell for a state that is not in the table."""
    cell = first_cell(table, mask, length)
    while table[cell] != NOBODY:
        cell = (cell + 1) & (len(table) - 1)
    return cell


@compiled
def first_cell(table: Ints, mask: Int, length: Int) -> Int:
    scattered = (mask * -7046029254386353131) ^ (length * 6364136223846793005)
    return (scattered ^ (scattered >> 29)) & (len(table) - 1)
