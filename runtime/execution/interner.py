"""Maps texts and bytes to dense integers: equal bytes have equal numbers.

The bytes are stored contiguously in an arena. A word of the table is half of a text's hash and its
number plus one, so almost every comparison of bytes succeeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from runtime.execution.column import Ints
from runtime.execution.hashing import hash_bytes, place_shift, same_bytes
from runtime.execution.jit import cached_njit

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_LEAST = 64
_SLACK = 8  # so that the last value can be read by whole words
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_NUMBER = np.uint64(0xFFFFFFFF)
_TAG = np.uint64(0xFFFFFFFF00000000)


class Interner:
    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._table: Words = np.zeros(4 * _LEAST, np.uint64)
        self._starts: Ints = np.zeros(_LEAST + 1, np.int64)
        self._arena: Bytes = np.zeros(16 * _LEAST, np.uint8)
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self._starts.nbytes + self._arena.nbytes

    def ids(self, column: pa.Array) -> Ints:
        """The number of each value of a text or binary column; 0 for null."""
        if column.null_count:
            found = np.zeros(len(column), np.int64)
            found[column.is_valid().to_numpy(zero_copy_only=False)] = self.ids(column.drop_null())
            return found
        found = np.empty(len(column), np.int64)
        offsets, data = text_parts(column)
        done = 0
        while True:
            done, self._size = _intern(
                offsets, data, done, found, self._table, self._starts, self._arena, self._size
            )
            if done == len(found):
                return found
            self._grow(int(offsets[done + 1] - offsets[done]))

    def binary(self, ids: Ints) -> pa.Array:
        """The values of these numbers, as large binary."""
        starts = self._starts
        ends = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(starts[ids + 1] - starts[ids], out=ends[1:])
        data = np.empty(int(ends[-1]), np.uint8)
        _gather(ids, starts, self._arena, ends, data)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_binary(), len(ids), buffers)

    def keep(self, used: Ints) -> Ints:
        """Drops all but these numbers and renumbers those. Returns new numbers by old ones."""
        renamed = np.full(self._size, -1, np.int64)
        values = self.binary(used)
        self._clear()
        renamed[used] = self.ids(values)
        return renamed

    def _grow(self, room: int) -> None:
        """Makes room for one more value of `room` bytes, at least doubling the capacity."""
        capacity = len(self._starts) - 1
        if self._size == capacity:
            starts = np.zeros(2 * capacity + 1, np.int64)
            starts[: capacity + 1] = self._starts
            self._starts = starts
            self._table = np.zeros(8 * capacity, np.uint64)
            _fill(self._table, self._starts, self._arena, self._size)
        used = int(self._starts[self._size])
        if used + room + _SLACK > len(self._arena):
            arena = np.zeros(max(2 * len(self._arena), used + room + _SLACK), np.uint8)
            arena[:used] = self._arena[:used]
            self._arena = arena


def text_parts(column: pa.Array) -> tuple[npt.NDArray[Any], Bytes]:
    """The offsets and the bytes of a text or binary column."""
    _, offsets, data = column.buffers()
    wide = pt.is_large_binary(column.type) or pt.is_large_string(column.type)
    dtype = np.int64 if wide else np.int32
    if offsets is None or len(column) == 0:
        return np.zeros(len(column) + 1, dtype), np.zeros(0, np.uint8)
    numbers = np.frombuffer(offsets, dtype, column.offset + len(column) + 1)[column.offset :]
    return numbers, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


@cached_njit
def _intern(offsets, data, first, found, table, starts, arena, size):  # type: ignore[no-untyped-def]
    """Numbers rows until a new value does not fit. Returns that row and the number of values."""
    while True:
        first, place, hashed = _known(offsets, data, first, found, table, starts, arena)
        if first == len(found):
            return first, size
        start, begin = offsets[first], starts[size]
        length = offsets[first + 1] - start
        if size == len(starts) - 1 or begin + length + _SLACK > len(arena):
            return first, size
        for i in range(length):
            arena[begin + i] = data[start + i]
        found[first] = size
        size += 1
        starts[size] = begin + length
        table[place] = (hashed << _HALF) | np.uint64(size)
        first += 1


@cached_njit
def _known(offsets, data, first, found, table, starts, arena):  # type: ignore[no-untyped-def]
    """Looks up rows until one is new. Returns that row, its place in the table and its hash."""
    last = np.uint64(len(table) - 1)
    shift = place_shift(len(table))
    for row in range(first, len(found)):
        start = np.int64(offsets[row])
        length = np.int64(offsets[row + 1]) - start
        hashed = hash_bytes(data, start, length)
        place = hashed >> shift
        tag = hashed << _HALF
        while True:
            word = table[place]
            if word == 0:
                return row, place, hashed
            if word & _TAG == tag:
                number = np.int64(word & _NUMBER) - 1
                begin = starts[np.uint64(number)]
                if starts[np.uint64(number + 1)] - begin == length and same_bytes(
                    data, start, arena, begin, length
                ):
                    found[row] = number
                    break
            place = (place + _ONE) & last
    return len(found), np.uint64(0), np.uint64(0)


@cached_njit
def _fill(table: Words, starts: Ints, arena: Bytes, size: int) -> None:
    last = np.uint64(len(table) - 1)
    shift = place_shift(len(table))
    for known in range(size):
        hashed = hash_bytes(arena, starts[known], starts[known + 1] - starts[known])
        place = hashed >> shift
        while table[place] != 0:
            place = (place + _ONE) & last
        table[place] = (hashed << _HALF) | np.uint64(known + 1)


@cached_njit
def _gather(ids: Ints, starts: Ints, arena: Bytes, ends: Ints, data: Bytes) -> None:
    for row in range(len(ids)):
        begin = starts[ids[row]]
        for i in range(ends[row + 1] - ends[row]):
            data[ends[row] + i] = arena[begin + i]
