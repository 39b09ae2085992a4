"""The events of a batch as the general kernel reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.batch import Batch
from runtime.execution.jit import Int, Truth, entry
from runtime.execution.operators.general.predicate_compiler import DOUBLE, TEXT
from runtime.execution.operators.general.tables import (
    CONTIGUOUS,
    SUM,
    Doubles,
    GeneralTables,
    InputColumns,
    Ints,
)
from runtime.execution.text_dictionary import TextDictionary

# InputColumns of `rows`.
SLOT, TIME, INSTANT, EVENT_MASK = range(4)


class GeneralEvents(NamedTuple):
    """`rows`: the events to process, grouped by partition, in order within each; `order` has their
    indexes in the batch, which also apply to the other fields. `values`: a bit mask of nulls, then
    the values that adjacent conditions use. `lanes`: for sums the value, zero for null; for MIN
    and MAX whether there is a value, with its key in `keys`."""

    order: Ints
    rows: Ints
    values: Ints
    lanes: Doubles
    keys: Ints
    ranks: Ints


def events_of(
    batch: Batch, masks: Ints, tables: GeneralTables, columns: InputColumns, texts: TextDictionary
) -> GeneralEvents:
    rows = np.empty((batch.size, 4), np.int64)
    rows[:, SLOT] = batch.slots
    rows[:, TIME] = batch.times
    rows[:, INSTANT] = batch.instants
    rows[:, EVENT_MASK] = masks
    values = _values(batch, columns)
    lanes, keys = _lanes(batch, columns)
    if columns.texts:
        places, literals = zip(*columns.texts, strict=True)
        tables.code[list(places), 2] = texts.ids(pa.array(literals, pa.string()))
    needs_ranks = columns.texts or any(kind == TEXT for _, kind in columns.values)
    every = bool(tables.counted) or tables.semantics == CONTIGUOUS
    order, arranged = _arranged(rows, every)
    return GeneralEvents(
        order=order,
        rows=arranged,
        values=values,
        lanes=lanes,
        keys=keys,
        ranks=own(texts.ranks, np.int64) if needs_ranks else np.zeros(0, np.int64),
    )


def own(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """An array of the one type for which the kernel is compiled."""
    return np.require(array, dtype, ["C", "W"])


def _values(batch: Batch, columns: InputColumns) -> Ints:
    values = np.zeros((batch.size if columns.values else 0, 1 + len(columns.values)), np.int64)
    for place, (name, kind) in enumerate(columns.values):
        if kind == DOUBLE:
            numbers = batch.number(name)
            values[:, 1 + place] = numbers.view(np.int64)
            missing = np.isnan(numbers)
        else:
            values[:, 1 + place], valid = batch.order(name)
            missing = ~valid
        values[:, 0] |= missing.astype(np.int64) << place
    return values


def _lanes(batch: Batch, columns: InputColumns) -> tuple[Doubles, Ints]:
    size = batch.size if columns.lanes else 0
    lanes = np.zeros((size, len(columns.lanes)))
    keys = np.zeros((size, len(columns.lanes)), np.int64)
    for j, (given, fold) in enumerate(columns.lanes):
        if fold == SUM:
            numbers = batch.lane_values(given)
            lanes[:, j] = np.where(np.isnan(numbers), 0.0, numbers)
        else:
            assert given.attribute is not None
            keys[:, j], lanes[:, j] = batch.order(given.attribute)
    return lanes, keys


def _arranged(rows: Ints, every: bool) -> tuple[Ints, Ints]:
    order, arranged = np.empty(len(rows), np.int64), np.empty_like(rows)
    most = int(rows[:, SLOT].max()) + 1 if len(rows) else 0
    count = _bring_together(rows, every, order, arranged, np.zeros(most, np.int64))
    return order[:count], arranged[:count]


@entry
def _bring_together(rows: Ints, every: Truth, order: Ints, arranged: Ints, ends: Ints) -> Int:
    """A stable counting sort by slot; slots are in order of first occurrence. Events that match
    nothing are left out, unless every event counts."""
    taken = 0
    for row in range(len(rows)):
        if every or rows[row, EVENT_MASK] != 0:
            ends[rows[row, SLOT]] += 1
            taken += 1
    total = 0
    for row in range(len(rows)):
        slot = rows[row, SLOT]
        if (every or rows[row, EVENT_MASK] != 0) and ends[slot] > 0:
            size = ends[slot]
            ends[slot] = -1 - total  # the start of the slot's rows; negative means visited
            total += size
    for row in range(len(rows)):
        if every or rows[row, EVENT_MASK] != 0:
            slot = rows[row, SLOT]
            place = -1 - ends[slot]
            ends[slot] -= 1
            order[place] = row
            for a in range(rows.shape[1]):
                arranged[place, a] = rows[row, a]
    return taken
