"""Assigns keys to shards by their hash.

A key has the same shard in every process and every run, so a change here needs a new checkpoint
format.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.column import Ints, MaskedColumn
from runtime.execution.hashing import hash_bytes, joined, mixed
from runtime.execution.interner import text_parts
from runtime.execution.jit import cached_njit

Shards = npt.NDArray[np.int32]
_Hashes = npt.NDArray[np.uint64]

_START = np.uint64(0xD6E8FEB86659FD93)
_NULL = np.uint64(0xA0761D6478BD642F)


def shards_of(columns: list[pa.Array], rows: int, count: int) -> Shards:
    """The shard of each row by the values of its key; without a key, one shard has all rows."""
    if count == 1 or not columns:
        return np.zeros(rows, np.int32)
    hashes: _Hashes = np.full(rows, _START)
    for column in columns:
        _join(hashes, column)
    shards: Shards = _spread(hashes, count)
    return shards


def _join(hashes: _Hashes, column: pa.Array) -> None:
    cells = MaskedColumn.of(column)
    null = None if cells.valid is None else ~cells.valid
    before = None if null is None else hashes[null]
    if cells.is_arrow:
        values = cells.values
        if not (pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
            values = values.cast(pa.large_binary())
        _join_texts(hashes, *text_parts(values))
    else:
        _join_words(hashes, _words(cells))
    if null is not None and before is not None:  # the bytes under a null are arbitrary
        hashes[null] = before ^ _NULL


def _words(cells: MaskedColumn) -> Ints:
    values = cells.values
    if values.dtype == np.float64:
        return (values + 0.0).view(np.int64)  # type: ignore[no-any-return] # -0.0 is 0.0
    if values.dtype == np.uint64:
        return values.view(np.int64)  # type: ignore[no-any-return]
    return values.astype(np.int64, copy=False)  # type: ignore[no-any-return]


@cached_njit
def _join_words(hashes, words):  # type: ignore[no-untyped-def]
    for row in range(len(hashes)):
        hashes[row] = joined(hashes[row], words[row])


@cached_njit
def _join_texts(hashes, offsets, data):  # type: ignore[no-untyped-def]
    for row in range(len(hashes)):
        start = np.int64(offsets[row])
        found = hash_bytes(data, start, np.int64(offsets[row + 1]) - start)
        hashes[row] = joined(hashes[row], found)


@cached_njit
def _spread(hashes, count):  # type: ignore[no-untyped-def]
    """Maps hashes to shards by other bits than the hash tables of keys use: those must vary within
    a shard."""
    shards = np.empty(len(hashes), np.int32)
    for row in range(len(hashes)):
        word = mixed(joined(hashes[row], _START)) >> np.uint64(33)
        shards[row] = np.int32(word % np.uint64(count))
    return shards


@cached_njit
def by_shard(shards, keep, count):  # type: ignore[no-untyped-def]
    """The kept rows, by shard and in order within each, and the start of each shard."""
    starts = np.zeros(count + 1, np.int64)
    for row in range(len(shards)):
        if keep[row]:
            starts[shards[row] + 1] += 1
    for shard in range(count):
        starts[shard + 1] += starts[shard]
    places = starts.copy()
    rows = np.empty(starts[count], np.int64)
    for row in range(len(shards)):
        if keep[row]:
            shard = shards[row]
            rows[places[shard]] = row
            places[shard] += 1
    return rows, starts
