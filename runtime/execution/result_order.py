"""Sorts result rows by window, then by the values of GROUP-BY, null first.

Every column becomes int64 columns of the same order: one for a number, one for every eight bytes of
a text. A stable radix sort orders these from the last digit to the first, using only the bits that
differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.execution.column import Ints, MaskedColumn, whole_order, words_of
from runtime.execution.interner import text_parts
from runtime.execution.jit import cached_njit

Order = npt.NDArray[np.int32]

_WORD = 8
# Longer texts are compared directly: every word takes several passes over all rows.
_LONGEST = 8 * _WORD
# The bits of a digit: with more, the write positions do not fit in the cache.
_LEAST, _WIDEST = 4, 8
_BITS = np.uint64(64)
_ONE = np.uint64(1)
_TOP = np.uint64(1 << 63)


class ResultOrder:
    """The order of rows by window and group."""

    def __init__(self, windows: Ints, groups: Iterable[pa.Array]) -> None:
        self._size = len(windows)
        columns = [column for column in _columns(windows, groups) if _differs(column)]
        # One column is the most common case and is not copied.
        self._keys = columns[0].reshape(1, -1) if len(columns) == 1 else _stacked(columns)
        # Numba compiles separate code for writable and read-only arrays; use only the latter.
        self._keys.setflags(write=False)

    def order(self) -> Order | None:
        """The sorted row indexes; None if the rows are already sorted."""
        return None if _in_order(self._keys) else _sorted_rows(self._keys)

    def numbers(self) -> tuple[Ints, Ints]:
        """Numbers the distinct rows in order; returns the number of each row, and the first row
        of each number."""
        order = self.order()
        if order is None:
            order = np.arange(self._size, dtype=np.int32)
        found, firsts = np.empty((2, self._size), np.int64)
        return found, firsts[: _number_rows(self._keys, order, found, firsts)]


def reorder(column: pa.Array, order: Order | None) -> pa.Array:
    """The column in this order; always a copy, since operators reuse the memory of their results.
    64-bit columns without nulls are the most common; for those Arrow would be slower, since it
    checks every index and touches fresh memory page by page."""
    data_type, size = column.type, len(column)
    if column.null_count or not pt.is_primitive(data_type) or data_type.bit_width != 64:
        return column.take(pa.array(np.arange(size) if order is None else order))
    words = words_of(column, np.int64)
    if order is None:
        found = words.copy()
    else:
        found = np.empty(size, np.int64)
        _gather(words, order, found)
    return pa.Array.from_buffers(data_type, size, [None, pa.py_buffer(found)])


def _columns(windows: Ints, groups: Iterable[pa.Array]) -> Iterator[Ints]:
    yield windows
    for group in groups:
        yield from _keys(group)


def _differs(column: Ints) -> bool:
    return len(column) > 1 and bool(column.min() != column.max())


def _stacked(columns: list[Ints]) -> Ints:
    return np.vstack(columns) if columns else np.zeros((0, 0), np.int64)


def _keys(column: pa.Array) -> Iterator[Ints]:
    """The sort keys of a column. All nulls have equal keys."""
    if pt.is_null(column.type):
        return
    cells = MaskedColumn.of(column)
    if cells.valid is not None:
        yield cells.valid.astype(np.int64)
    for words in _words(cells.values) if cells.is_arrow else [whole_order(cells.values)]:
        yield words if cells.valid is None else np.where(cells.valid, words, 0)


def _words(column: pa.Array) -> Iterable[Ints]:
    if pt.is_fixed_size_binary(column.type):
        column = column.cast(pa.binary())
    if pt.is_string(column.type) or pt.is_binary(column.type):
        offsets, data = text_parts(column)
        lengths = np.diff(offsets).astype(np.int64)
        longest = int(lengths.max(initial=0))
        if longest <= _LONGEST:
            # Missing bytes count as zero; the lengths distinguish them from zero bytes.
            words = np.empty((-(-longest // _WORD), len(column)), np.int64)
            _read_words(offsets, data, words)
            return [*words, lengths]
    # Arrow orders text by its bytes, which in UTF-8 is the order of code points.
    return [pc.rank(column, tiebreaker="dense").to_numpy().astype(np.int64)]


@cached_njit
def _read_words(offsets, data, words):  # type: ignore[no-untyped-def]
    """Reads eight bytes of each text at a time, as integers of the same order."""
    for number in range(len(words)):
        for row in range(words.shape[1]):
            begin, end = np.int64(offsets[row]) + number * _WORD, np.int64(offsets[row + 1])
            word = np.uint64(0)
            for i in range(begin, begin + _WORD):
                word <<= np.uint64(8)
                if i < end:
                    word |= np.uint64(data[i])
            words[number, row] = np.int64(word ^ _TOP)


@cached_njit
def _in_order(keys: Ints) -> bool:
    for row in range(1, keys.shape[1]):
        for column in range(len(keys)):
            before, here = keys[column, row - 1], keys[column, row]
            if before < here:
                break
            if before > here:
                return False
    return True


@cached_njit
def _number_rows(keys: Ints, order: Order, found: Ints, firsts: Ints) -> int:
    count = 0
    for place in range(len(order)):
        row = order[place]
        new = place == 0
        for column in range(len(keys)):
            new |= keys[column, row] != keys[column, order[place - 1]]
        if new:
            firsts[count] = row
            count += 1
        found[row] = count - 1
    return count


def _sorted_rows(keys: Ints) -> Order:
    size = keys.shape[1]
    # A digit has at most as many values as there are rows, so that few rows are sorted fast.
    counts = np.empty(1 << min(_WIDEST, max(_LEAST, size.bit_length())), np.int64)
    away, order = np.empty((2, size), np.uint64), np.empty((2, size), np.int32)
    half: int = _sort(keys, counts, away, order)
    found: Order = order[half]
    return found


@cached_njit
def _sort(keys, counts, away, order):  # type: ignore[no-untyped-def]
    """Sorts back and forth between the two halves of its arrays; returns the half with the
    result."""
    for row in range(order.shape[1]):
        order[0, row] = row
    half, digit = 0, np.uint64(0)
    while len(counts) >> digit > 1:
        digit += _ONE
    for column in range(len(keys) - 1, -1, -1):
        low, high = keys[column, 0], keys[column, 0]
        for value in keys[column]:
            low, high = min(low, value), max(high, value)
        span = np.uint64(high - low)
        if span == 0:
            continue
        for place in range(order.shape[1]):
            away[half, place] = np.uint64(keys[column, order[half, place]] - low)
        unit = np.uint64(0)
        while unit < _BITS and span >> unit:
            _pass(unit, counts, away[half], order[half], away[1 - half], order[1 - half])
            half = 1 - half
            unit += digit
    return half


@cached_njit
def _pass(unit, counts, away, order, to_away, to_order):  # type: ignore[no-untyped-def]
    """Sorts by one digit."""
    last = np.uint64(len(counts) - 1)
    counts[:] = 0
    for place in range(len(away)):
        counts[(away[place] >> unit) & last] += 1
    start = 0
    for value in range(len(counts)):
        start, counts[value] = start + counts[value], start
    for place in range(len(away)):
        value = (away[place] >> unit) & last
        at = np.uint64(counts[value])
        counts[value] += 1
        to_away[at] = away[place]
        to_order[at] = order[place]


@cached_njit
def _gather(words: Ints, order: Order, found: Ints) -> None:
    for place in range(len(order)):
        found[place] = words[np.uint64(order[place])]
