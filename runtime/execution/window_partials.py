"""The partial aggregates of closed windows, as columns.

There is a row for each window and partition, then, after merging, for each window and group. Sums
of integers are exact below 2**53. MIN and MAX are integers that order like their attribute, so they
are exact for every type.
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
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.result_order import ResultOrder
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.language.query import Fold

Slots: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True)
class ExtremeColumn:
    """A MIN or MAX lane: `order` as in `Batch.order`, `valid` masks the rows with a value."""

    order: Ints
    valid: Mask

    @classmethod
    def concat(cls, parts: list[ExtremeColumn]) -> ExtremeColumn:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.order for part in parts]),
            np.concatenate([part.valid for part in parts]),
        )

    def take(self, rows: npt.NDArray[np.intp] | Mask) -> ExtremeColumn:
        return ExtremeColumn(self.order[rows], self.valid[rows])

    def grouped(self, groups: Ints, count: int, fold: Fold) -> ExtremeColumn:
        order, valid = np.zeros(count, np.int64), np.zeros(count, np.bool_)
        _fold_groups(groups, self.order, self.valid, order, valid, fold is Fold.MIN)
        return ExtremeColumn(order, valid)


LaneColumn: TypeAlias = WideFloatColumn | ExtremeColumn


@dataclass(frozen=True)
class ClosedWindows:
    """One query's closed windows, a row for each window (its number k) and partition that has at
    least one trend. `lanes` are those of `query.lanes`."""

    query: str
    windows: Ints
    slots: Slots
    count: WideFloatColumn
    lanes: list[LaneColumn]

    def block(self, keys: PartitionIndex, places: Sequence[int]) -> PartialAggregates:
        """Adds the values of the group attributes, which have these indexes in the keys."""
        groups = [keys.column(self.slots, place) for place in places]
        distinct = len(places) == keys.width
        return PartialAggregates(self.query, self.windows, groups, self.count, self.lanes, distinct)


@dataclass(frozen=True)
class PartialAggregates:
    """Like `ClosedWindows`, with the values of GROUP-BY instead of slots, so that it can be sent to
    another process. `distinct`: every partition is its own group, so no window and group occurs
    twice."""

    query: str
    windows: Ints
    groups: list[pa.Array]
    count: WideFloatColumn
    lanes: list[LaneColumn]
    distinct: bool = False

    def __len__(self) -> int:
        return len(self.windows)

    def take(self, rows: npt.NDArray[np.intp]) -> PartialAggregates:
        groups = [column.take(pa.array(rows)) for column in self.groups]
        lanes = [lane.take(rows) for lane in self.lanes]
        count = self.count.take(rows)
        return PartialAggregates(
            self.query, self.windows[rows], groups, count, lanes, self.distinct
        )


def merge(blocks: Sequence[PartialAggregates], folds: Sequence[Fold]) -> PartialAggregates:
    """One row for each window and group, over all blocks of one query (at least one)."""
    block = _concat(blocks)
    if block.distinct:
        return block
    groups, firsts = ResultOrder(block.windows, block.groups).numbers()
    if len(firsts) == len(block):
        return block
    lanes = [
        lane.grouped(groups, len(firsts))
        if isinstance(lane, WideFloatColumn)
        else lane.grouped(groups, len(firsts), fold)
        for lane, fold in zip(block.lanes, folds, strict=True)
    ]
    values = [column.take(pa.array(firsts)) for column in block.groups]
    count = block.count.grouped(groups, len(firsts))
    return PartialAggregates(
        block.query, block.windows[firsts], values, count, lanes, distinct=True
    )


def _concat(blocks: Sequence[PartialAggregates]) -> PartialAggregates:
    if len(blocks) == 1:
        return blocks[0]
    lanes: list[LaneColumn] = []
    for parts in zip(*(block.lanes for block in blocks), strict=True):
        numbers = [part for part in parts if isinstance(part, WideFloatColumn)]
        extremes = [part for part in parts if isinstance(part, ExtremeColumn)]
        lanes.append(WideFloatColumn.concat(numbers) if numbers else ExtremeColumn.concat(extremes))
    columns = zip(*(block.groups for block in blocks), strict=True)
    return PartialAggregates(
        blocks[0].query,
        np.concatenate([block.windows for block in blocks]),
        [pa.concat_arrays(parts) for parts in columns],
        WideFloatColumn.concat([block.count for block in blocks]),
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
