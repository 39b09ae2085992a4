"""The tables of the range-index kernel: the work to do for each event type.

Positions of queries that the same events can match (same type, same local conditions) belong to
one *class*; positions of a class that share a Kleene state belong to one *block*. An event does
this in a block:

    start, add totals, gather from stores   ->  one vector of numbers of all queries
    add its own values
    give to totals, put into stores

A *store* is an ordered index of the events of a block by one attribute, with the numbers of all
queries in one tree, so that one descent serves them all. *Totals* are sums without an adjacent
condition: of trends that any event can extend, and the results.

A *kleene* is a state that several queries repeat under a comparison of the same attributes.
`shared_kleene.py` keeps its events for all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import Int, inlined

Ints: TypeAlias = npt.NDArray[np.int64]

ALWAYS = np.iinfo(np.int64).min  # the queries were there from the start


class Lists(NamedTuple):
    """Rows of whole numbers for each owner: those of owner i are `first[i]` to `first[i + 1]`."""

    first: Ints
    rows: Ints


@dataclass(frozen=True)
class RangeIndexTables:
    """One list for each action of the kernel. Comments name the columns of a list; numbers and
    folds are indexes into a block's vectors unless stated otherwise."""

    window: Lists  # within, slide, counted, open at once, since
    of_type: Lists  # by type code: block
    blocks: Lists  # by block: class (-1: no conditions), numbers, folds, kleene (-1: none)
    counts: Lists  # by block: number
    starts: Lists  # by block: number
    adds: Lists  # by block: total, number
    fold_adds: Lists  # by block: total fold, fold
    probes: Lists  # by block: probe, store, parts, border column
    probe_lanes: Lists  # by probe: lane of the store
    probe_numbers: Lists  # by probe: number, for each lane
    probe_folds: Lists  # by probe: fold of the store
    probe_fold_numbers: Lists  # by probe: fold, for each fold of the store
    touches: Lists  # by block: number, count, value column (-1: none), whether it counts ones
    fold_touches: Lists  # by block: fold, count, order column, whether it is a MAX
    gives: Lists  # by block: number, total
    fold_gives: Lists  # by block: fold, total fold
    stores: Lists  # by block: store, key column
    store_lanes: Lists  # by store: number
    store_folds: Lists  # by store: fold
    # ---- shared Kleene states
    kleenes: Lists  # by kleene: columns K_
    members: Lists  # by kleene: number, count's number, parts, touched value (-1: none)
    touched: Lists  # by kleene: value column (-1: none), whether it counts ones
    flushes: Lists  # by block: kleene that must have given its sums before the block reads totals
    stirs: Lists  # by block: kleene that is entered from what the block gives to
    kleene_probes: Lists  # by block: probe, kleene, parts, border column
    kleene_targets: Lists  # by kleene probe: row of `members`, number

    def packed(self) -> Ints:
        """All lists in one array, which is cheap to pass. It begins with the start of each list; a
        list begins with the start of each owner's rows, and the end of the last."""
        lists = [getattr(self, name) for name in LISTS]
        parts: list[Ints] = [np.zeros(len(lists), np.int64)]
        used = len(lists)
        for number, each in enumerate(lists):
            parts[0][number] = used
            width = each.rows.shape[1]
            parts += [used + len(each.first) + width * each.first, each.rows.reshape(-1)]
            used += len(each.first) + each.rows.size
        return np.concatenate(parts)


LISTS = tuple(each.name for each in fields(RangeIndexTables))
(WINDOW, OF_TYPE, BLOCKS, COUNTS, STARTS, ADDS, FOLD_ADDS) = range(7)
(PROBES, PROBE_LANES, PROBE_NUMBERS, PROBE_FOLDS, PROBE_FOLD_NUMBERS) = range(7, 12)
(TOUCHES, FOLD_TOUCHES, GIVES, FOLD_GIVES, STORES, STORE_LANES, STORE_FOLDS) = range(12, 19)
(KLEENES, MEMBERS, TOUCHED, FLUSHES, STIRS, KLEENE_PROBES, KLEENE_TARGETS) = range(19, 26)

# The columns of `kleenes`.
K_BLOCK, K_WIDTH, K_LIMIT, K_COMMON, K_DIFFER, K_KEY, K_BORDER, K_TREE = range(8)
K_INTS, K_PENDING, K_STORE, K_SHARED, K_ALONE, K_MOVE, K_COLUMNS = range(8, 15)

# The state of a kleene in a window and partition, before the numbers of its snapshots.
S_COUNT, S_CURRENT, S_SEEN, S_VERSION, S_ALONE, S_RESERVED, STATE_INTS = range(7)


def lists_of(rows: Sequence[Sequence[Sequence[int]]], width: int) -> Lists:
    """Lists of rows by owner."""
    first = np.zeros(len(rows) + 1, np.int64)
    first[1:] = np.cumsum([len(each) for each in rows])
    flat = [row for each in rows for row in each]
    return Lists(first, np.array(flat, np.int64).reshape(len(flat), width))


@inlined
def first_of(tables: Ints, list_: Int, owner: Int) -> Int:
    """The index of an owner's first row in the packed tables."""
    return tables[tables[list_] + owner]


@inlined
def column_of(tables: Ints, kleene: Int, column: Int) -> Int:
    """A column of `kleenes`."""
    return tables[tables[tables[KLEENES] + kleene] + column]
