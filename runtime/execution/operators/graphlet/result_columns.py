"""Turns the rows that a kernel reports into columns of each query."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.execution.column import Ints
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ClosedWindows, ExtremeColumn, LaneColumn
from runtime.language.query import Fold, Query


def closed(queries: tuple[Query, ...], found: Ints, mins_at: int) -> Iterator[ClosedWindows]:
    """`found` has the number of its query first in each row, and minima from `mins_at` on."""
    if len(queries) == 1:
        parts = [found]
    else:
        numbers = found[:, 0].astype(np.int16)
        order = np.argsort(numbers, kind="stable")
        borders = np.searchsorted(numbers[order], np.arange(1, len(queries)))
        parts = np.split(found[order], borders)
    for query, rows in zip(queries, parts, strict=True):
        if len(rows):
            yield _closed(query, rows, mins_at)


def _closed(query: Query, rows: Ints, mins_at: int) -> ClosedWindows:
    def numbers(j: int) -> WideFloatColumn:
        at = k.OUT_NUMBERS + 2 * j
        mantissa = rows[:, at].copy().view(np.float64)  # the rows will be used again
        return WideFloatColumn(mantissa, rows[:, at + 1].astype(np.int32))

    lanes: list[LaneColumn] = []
    sums = mins = 0
    for lane in query.lanes:
        if lane.fold is Fold.SUM:
            sums += 1
            lanes.append(numbers(sums))
        else:
            least = rows[:, mins_at + mins].copy()
            mins += 1
            order = ~least if lane.fold is Fold.MAX else least
            lanes.append(ExtremeColumn(order, least != k.NEUTRAL))
    slots = rows[:, 2].astype(np.int32)
    return ClosedWindows(query.name, rows[:, 1].copy(), slots, numbers(0), lanes)
