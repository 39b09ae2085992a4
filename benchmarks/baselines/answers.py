"""From the totals of slices to result tables: partitions of a group are combined."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

from benchmarks.baselines.decoded import Codes, Decoded, Doubles, Ints
from runtime.language.query import Measure


def answer(decoded: Decoded, window: Ints, slot: Ints, totals: Doubles) -> pa.Table:
    """`totals[i]`: how many trends slice i has, and its lanes."""
    groups, query = decoded.groups, decoded.query
    is_alone = groups.count == len(groups.of)
    found = _combined(window, slot, totals, groups.of, groups.count, is_alone, decoded.folds)
    window, group, lanes = found
    start = window * query.window.slide
    columns = [pa.array(start), pa.array(start + query.window.within)]
    names = ["window_start", "window_end"]
    picked = pa.array(group) if query.group_by else None
    for column in query.columns:
        names.append(column.name)
        if column.group is not None:
            columns.append(groups.values[column.group].take(picked))
        else:
            assert column.measure is not None
            columns.append(_measured(query.measures[column.measure], lanes))
    return pa.Table.from_arrays(columns, names)


def _measured(measure: Measure, lanes: Doubles) -> pa.Array:
    """`lanes[0]` is COUNT(*); those of the query come after it."""
    if not measure.lanes:
        return pa.array(lanes[0])
    first = lanes[1 + measure.lanes[0]]
    if measure.returns_attribute:
        return pa.array(first, mask=np.isinf(first))
    name = measure.function.name
    if name == "COUNT":
        return pa.array(first)
    divisor = lanes[1 + measure.lanes[1]]
    value = first if name == "SUM" else _quotient(first, divisor)
    return pa.array(value, mask=divisor == 0)


@njit(cache=True, error_model="numpy")
def _quotient(numbers: Doubles, divisors: Doubles) -> Doubles:
    """Zero by zero is NaN, without a warning."""
    return numbers / divisors


@njit(cache=True)
def _combined(
    window: Ints,
    slot: Ints,
    totals: Doubles,
    group_of: Ints,
    groups: int,
    is_alone: bool,
    folds: Codes,
) -> tuple[Ints, Ints, Doubles]:
    """By window and group: the windows, the groups, and [lane, row] of totals. Slices without a
    trend are left out. `is_alone`: each partition is a group by itself, so there is one slice for
    each row."""
    some = np.empty(len(window), np.int64)
    size = 0
    for i in range(len(window)):
        some[size] = i
        size += totals[i, 0] > 0.0
    some = some[:size]
    place = np.arange(size)
    rows = size
    if not is_alone and size:
        place, rows = _numbered(window[some], group_of[slot[some]], groups)
    windows, numbers = np.empty(rows, np.int64), np.empty(rows, np.int64)
    lanes = np.empty((totals.shape[1], rows))
    made = 0
    for n in range(size):
        i, row = some[n], place[n]
        if row == made:  # rows are numbered as they first come
            made += 1
            windows[row], numbers[row] = window[i], group_of[slot[i]]
            for w in range(totals.shape[1]):
                lanes[w, row] = totals[i, w]
            continue
        lanes[0, row] += totals[i, 0]
        for w in range(len(folds)):
            value = totals[i, w + 1]
            if folds[w] == 0:
                lanes[w + 1, row] += value
            elif folds[w] == 1:
                lanes[w + 1, row] = min(lanes[w + 1, row], value)
            else:
                lanes[w + 1, row] = max(lanes[w + 1, row], value)
    return windows, numbers, lanes


@njit(cache=True)
def _numbered(window: Ints, group: Ints, groups: int) -> tuple[Ints, int]:
    """The row of each slice, numbered as they first come."""
    first = window.min()
    span = window.max() - first + 1
    place = np.empty(len(window), np.int64)
    rows = 0
    if span <= (1024 + 4 * len(window)) // groups:  # windows are side by side: no need to sort
        row_of = np.full(span * groups, -1, np.int64)
        for i in range(len(window)):
            key = (window[i] - first) * groups + group[i]
            if row_of[key] < 0:
                row_of[key] = rows
                rows += 1
            place[i] = row_of[key]
        return place, rows
    # By window, as they come; in each window by group.
    order = np.argsort(window, kind="mergesort")
    head = np.empty(len(window), np.int64)  # the first slice of the same window and group
    first_of, met = np.empty(groups, np.int64), np.full(groups, -1, np.int64)
    stamp = -1
    for n in range(len(order)):
        i = order[n]
        if n == 0 or window[i] != window[order[n - 1]]:
            stamp += 1
        if met[group[i]] != stamp:
            met[group[i]] = stamp
            first_of[group[i]] = i
        head[i] = first_of[group[i]]
    for i in range(len(window)):
        if head[i] == i:
            place[i] = rows
            rows += 1
        else:
            place[i] = place[head[i]]
    return place, rows
