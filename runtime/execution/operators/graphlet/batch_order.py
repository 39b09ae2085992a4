"""The order in which the graphlet operator processes the events of a batch.

Partitions are independent, so the events of one can be processed together: then its row is read
into the CPU cache once for all of them. That pays if the rows of all partitions do not fit there.
The number of panes processed together is limited by the windows whose results are merged on close.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Ints
from runtime.execution.jit import cached_njit
from runtime.execution.operators.graphlet.kernel.record import MERGED_WINDOWS

Small = npt.NDArray[np.int32]

# Rows that together need more than this do not fit in a core's own cache. Events touch so little of
# a small row that reordering costs more than it saves.
CACHE_BYTES = 1 << 20
SMALL_ROW = 1 << 14
TOGETHER = MERGED_WINDOWS // 2
ARRIVAL_ORDER: Small = np.zeros(0, np.int32)


def order_of(times: Ints, slots: Small, pane: int, rows: int, row_bytes: int) -> Small:
    """The indexes of events, by slot; empty if arrival order is best."""
    if row_bytes < SMALL_ROW or rows * row_bytes < CACHE_BYTES:
        return ARRIVAL_ORDER
    order = np.empty(len(times), np.int32)
    _sort(times, slots, TOGETHER * pane, np.zeros(rows + 1, np.int32), order)
    return order


@cached_njit
def _sort(times: Ints, slots: Small, span: int, ends: Small, order: Small) -> None:
    """Sorts the events of each span of time by slot, keeping their order in a slot. `ends` has a
    place for each slot, and is zero between spans."""
    first, size = 0, len(times)
    while first < size:
        end = (times[first] // span + 1) * span
        last = first
        while last < size and times[last] < end:
            last += 1
        if last - first < len(ends):
            # More partitions than events: hardly any partition occurs twice.
            for i in range(first, last):
                order[i] = i
        else:
            _sort_span(slots, first, last, ends, order)
        first = last


@cached_njit
def _sort_span(slots: Small, first: int, last: int, ends: Small, order: Small) -> None:
    for i in range(first, last):
        ends[np.uintp(slots[i])] += 1
    total = last
    for slot in range(len(ends) - 1, -1, -1):
        total -= ends[slot]
        ends[slot] = total
    for i in range(first, last):
        place = np.uintp(slots[i])
        order[np.uintp(ends[place])] = i
        ends[place] += 1
    ends[:] = 0
