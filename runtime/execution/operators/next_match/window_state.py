"""The state of one query: a row for each partition and window, until its result is read.

    slot -> rows of its open windows, the oldest first

A row has a block of numbers for the complete trends, then one for each state with its partial
trends: their count and sums, as doubles with exponents, and their least values. Unused rows are in
a free list. Arrays grow in Python, between two calls of the kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.operators.next_match.tables import NextMatchTables

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

# Columns of `slots`. TURN: the number of relevant instants so far.
OLDEST, NEWEST, TURN = range(3)
# Columns of `rows`. LAST: the turn of the last step, which contiguous trends must follow at once.
# IS_LARGE: whether an exponent ever was not zero.
LINK, STATUS, NUMBER, SLOT, LAST, IS_LARGE = range(6)
FREE, OPEN, DONE = range(3)
# Counters of the kernel: the first free row, the rows with results; and a time before which no
# window ends.
SPARE, WAITING, EARLIEST = range(3)

NOBODY = -1
NOTHING = 2**63 - 1  #: no value, for lanes whose result is the least value
LATEST = 2**63 - 1


class WindowState(NamedTuple):
    """`staged`, `staged_exponents`, `staged_least`: the trends that the events of an instant
    create, by state; only used during a step."""

    slots: Ints
    rows: Ints
    numbers: Doubles
    exponents: Ints
    least: Ints
    counters: Ints
    staged: Doubles
    staged_exponents: Ints
    staged_least: Ints


def new_state(tables: NextMatchTables) -> WindowState:
    blocks, width = 1 + tables.states, 1 + tables.sums
    vectors = WindowState(
        slots=_slots(0),
        rows=np.zeros((0, 6), np.int64),
        numbers=np.zeros((0, blocks * width)),
        exponents=np.zeros((0, blocks * width), np.int64),
        least=np.zeros((0, blocks * tables.extremes), np.int64),
        counters=np.array([NOBODY, 0, LATEST]),
        staged=np.zeros((blocks, width)),
        staged_exponents=np.zeros((blocks, width), np.int64),
        staged_least=np.zeros((blocks, tables.extremes), np.int64),
    )
    return grown(vectors)


def grown(vectors: WindowState) -> WindowState:
    """The same state with more than twice the capacity for rows."""
    known = len(vectors.rows)
    more = known + 16
    wider = {
        name: _longer(getattr(vectors, name), more)
        for name in ("rows", "numbers", "exponents", "least")
    }
    rows, counters = wider["rows"], vectors.counters
    rows[known:, LINK] = np.arange(known + 1, known + more + 1)
    rows[-1, LINK] = counters[SPARE]
    counters[SPARE] = known
    return vectors._replace(**wider)


def with_slots(vectors: WindowState, capacity: int) -> WindowState:
    known = len(vectors.slots)
    if capacity <= known:
        return vectors
    slots = _slots(max(capacity, 2 * known))
    slots[:known] = vectors.slots
    return vectors._replace(slots=slots)


def _slots(size: int) -> Ints:
    slots = np.full((size, 3), NOBODY, np.int64)
    slots[:, TURN] = 0
    return slots


def _longer(array: npt.NDArray[Any], more: int) -> npt.NDArray[Any]:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
