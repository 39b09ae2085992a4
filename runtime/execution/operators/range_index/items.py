"""The items that events create, the columns of a batch, and the kernel's scratch memory.

An *item* holds the trends that an event creates in one block and one window."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import inlined

Ints = npt.NDArray[np.int64]

# Results of the kernel: all events are processed, or it needs more of something.
ALL_PROCESSED, MORE_ROWS, MORE_NODES, MORE_ITEMS, MORE_SNAPSHOTS = range(5)
# Indexes of the cursor: the first event of the instant, the turn of windows, whether items are
# being applied, the next item, the number of items, the items needed, the words of the arena
# needed, and the next item whose state may have to split.
EVENT, TURN, APPLYING, ITEM, ITEMS, ITEMS_NEEDED, WORDS_NEEDED, NEXT_SPLIT = range(8)
CURSOR = 8
# Columns of an item: its block, event, row (NONE: none yet), window, how it is applied, where its
# numbers and folds start, and the version of what enters that it has seen.
I_BLOCK, I_EVENT, I_ROW, I_WINDOW, I_MODE, I_START, I_FOLDS, I_VERSION = range(8)
ITEM_COLUMNS = 8
# How an item is applied: for each query separately; the same, and the state splits; shared; shared
# with a new snapshot of the entering trends; as a snapshot of the event itself.
ALONE, SPLITTING, SHARED_STEP, NEW_ENTRY, AS_SNAPSHOT = range(5)


class RangeIndexEvents(NamedTuple):
    """The columns of a batch. `points` are times, or ordinals within the partition (-1: the event
    is older than the queries)."""

    instants: Ints
    points: Ints
    slots: npt.NDArray[np.int32]
    types: npt.NDArray[np.int32]
    matches: npt.NDArray[np.bool_]  # by class and event
    orders: Ints  # by column and event
    valid: npt.NDArray[np.bool_]
    values: npt.NDArray[np.float64]


class WorkSpace(NamedTuple):
    """Scratch memory. `places` are the numbers from 0 up; `most_words` are the most words of the
    arena that an event can need, for each block."""

    items: Ints
    mantissas: npt.NDArray[np.float64]
    exponents: Ints
    leasts: Ints
    work_m: npt.NDArray[np.float64]
    work_e: Ints
    work_x: Ints
    given_m: npt.NDArray[np.float64]
    given_e: Ints
    places: Ints
    most_words: Ints
    sizes: Ints  # by block: numbers of an item


@inlined
def widest_item(space):
    """The most numbers that an item can have."""
    return space.sizes[space.sizes.size - 1]
