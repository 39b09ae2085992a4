"""What closed windows leave behind, as columns: a row for each window and partition, then merged
into a row for each window and group.

Sums of whole numbers are exact below 2**53. MIN and MAX come as the whole numbers by which their
attribute orders, so that they are exact for every type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.column import Ints, Mask
from runtime.execution.jit import cached_njit
from runtime.execution.partition_index import Keys
from runtime.execution.result_order import Ordering
from runtime.execution.wide_float_column import Numbers
from runtime.language.query import Fold

Slots: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Extremes:
    """A MIN or MAX lane: `order` as `Batch.order` gives it, `valid` where there is a value."""

    order: Ints
    valid: Mask

    @classmethod
    def concat(cls, parts: list[Extremes]) -> Extremes:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.order for part in parts]),
            np.concatenate([part.valid for part in parts]),
        )

    def take(self, rows: npt.NDArray[np.intp] | Mask) -> Extremes:
        return Extremes(self.order[rows], self.valid[rows])

    def grouped(self, groups: Ints, count: int, fold: Fold) -> Extremes:
        order, valid = np.zeros(count, np.int64), np.zeros(count, np.bool_)
        _fold_groups(groups, self.order, self.valid, order, valid, fold is Fold.MIN)
        return Extremes(order, valid)


LaneColumn: TypeAlias = Numbers | Extremes


@dataclass(frozen=True)
class Closed:
    """One query's closed windows, a row for each window (its number k) and partition that has at
    least one trend. `lanes` are those of `query.lanes`."""

    query: str
    windows: Ints
    slots: Slots
    count: Numbers
    lanes: list[LaneColumn]

    def block(self, keys: Keys, places: Sequence[int]) -> Block:
        """With the values of the group attributes, which have these places among the keys'."""
        groups = [keys.column(self.slots, place) for place in places]
        distinct = len(places) == keys.width
        return Block(self.query, self.windows, groups, self.count, self.lanes, distinct)


@dataclass(frozen=True)
class Block:
    """As `Closed`, with the values of GROUP-BY for slots, so that it can leave its process.
    `distinct`: every partition is a group of its own, so no window and group is there twice."""

    query: str
    windows: Ints
    groups: list[pa.Array]
    count: Numbers
    lanes: list[LaneColumn]
    distinct: bool = False

    def __len__(self) -> int:
        return len(self.windows)

    def take(self, rows: npt.NDArray[np.intp]) -> Block:
        groups = [column.take(pa.array(rows)) for column in self.groups]
        lanes = [lane.take(rows) for lane in self.lanes]
        count = self.count.take(rows)
        return Block(self.query, self.windows[rows], groups, count, lanes, self.distinct)


def merge(blocks: Sequence[Block], folds: Sequence[Fold]) -> Block:
    """One row for each window and group, over all blocks of one query (at least one)."""
    block = _concat(blocks)
    if block.distinct:
        return block
    groups, firsts = Ordering(block.windows, block.groups).numbers()
    if len(firsts) == len(block):
        return block
    lanes = [
        lane.grouped(groups, len(firsts))
        if isinstance(lane, Numbers)
        else lane.grouped(groups, len(firsts), fold)
        for lane, fold in zip(block.lanes, folds, strict=True)
    ]
    values = [column.take(pa.array(firsts)) for column in block.groups]
    count = block.count.grouped(groups, len(firsts))
    return Block(block.query, block.windows[firsts], values, count, lanes, distinct=True)


def _concat(blocks: Sequence[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    lanes: list[LaneColumn] = []
    for parts in zip(*(block.lanes for block in blocks), strict=True):
        numbers = [part for part in parts if isinstance(part, Numbers)]
        extremes = [part for part in parts if isinstance(part, Extremes)]
        lanes.append(Numbers.concat(numbers) if numbers else Extremes.concat(extremes))
    columns = zip(*(block.groups for block in blocks), strict=True)
    return Block(
        blocks[0].query,
        np.concatenate([block.windows for block in blocks]),
        [pa.concat_arrays(parts) for parts in columns],
        Numbers.concat([block.count for block in blocks]),
        lanes,
    )


@cached_njit
def _fold_groups(
    groups: Ints, order: Ints, valid: Mask, best: Ints, known: Mask, least: bool
) -> None:
    for row in range(len(groups)):
        if valid[row]:
            group = groups[row]
            better = order[row] < best[group] if least else order[row] > best[group]
            if better or not known[group]:
                best[group] = order[row]
                known[group] = True
