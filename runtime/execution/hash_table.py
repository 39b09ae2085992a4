"""Hash tables that map keys to dense slots: open addressing with linear probing.

A slot is a small number that identifies a key while the key is in use. Freed slots are reused, the
last freed first. A kernel stops when a new key does not fit; the table grows and the kernel
continues from there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Ints, Mask
from runtime.execution.hashing import hash_row, mixed, place_shift
from runtime.execution.jit import cached_njit
from runtime.execution.prefetch import AHEAD, prefetch

Slots = npt.NDArray[np.int32]

_LEAST = 64
_LARGE = 4_096
# Keys are also found by direct indexing if they span at most this many times the capacity.
_SPARSE = 8
_SLOT = np.uint64(0xFFFFFFFF)
_TAG = np.uint64(0xFFFFFFFF00000000)
_HALF = np.uint64(32)
_ONE = np.uint64(1)

# Places in `_meta`.
_USED = 0  # slots that were ever given out
_FREED = 1  # of these, how many lie on the stack of free ones
_NULL = 2  # the slot of the null key, or -1


class SlotTable(ABC):
    """`keys` has the key of each slot as a row of int64."""

    def __init__(self, width: int) -> None:
        self.keys: Ints = np.zeros((_LEAST, width), np.int64)
        self.alive: Mask = np.zeros(_LEAST, np.bool_)
        self._free: Slots = np.zeros(_LEAST, np.int32)
        self._meta: Ints = np.array([0, 0, -1])
        self._table: Any = None
        self._direct: Slots = np.zeros(0, np.int32)
        self.rebuild()

    @property
    def capacity(self) -> int:
        """All slots are below this. It grows by doubling."""
        return len(self.alive)

    @property
    def top(self) -> int:
        """All slots that were ever given out are below this."""
        return int(self._meta[_USED])

    @property
    def count(self) -> int:
        """The number of keys."""
        return int(self._meta[_USED] - self._meta[_FREED])

    @property
    def nbytes(self) -> int:
        parts = (self.keys, self.alive, self._free, self._table, self._direct)
        return sum(part.nbytes for part in parts)

    @property
    def null(self) -> int:
        """The slot of the null key in a table of one column, or -1."""
        return int(self._meta[_NULL])

    @abstractmethod
    def find(self, rows: Ints, valid: Mask | None) -> Slots:
        """The slot of each row's key; a new key gets a slot."""

    @abstractmethod
    def rebuild(self) -> None:
        """Fills a table for the capacity with the keys that are alive."""

    @property
    def _entries(self) -> int:
        """A small table that is mostly empty rarely probes twice; a large one must save memory."""
        return (4 if self.capacity < _LARGE else 2) * self.capacity

    def release(self, dead: Mask) -> None:
        freed = np.flatnonzero(dead & self.alive)
        if len(freed) == 0:
            return
        self.alive[freed] = False
        start = int(self._meta[_FREED])
        # The lowest is reused first, so that the slots in use stay dense.
        self._free[start : start + len(freed)] = freed[::-1]
        self._meta[_FREED] += len(freed)
        if self._meta[_NULL] >= 0 and not self.alive[self._meta[_NULL]]:
            self._meta[_NULL] = -1
        self.rebuild()

    def save(self) -> dict[str, npt.NDArray[Any]]:
        used = int(self._meta[_USED])
        return {"keys": self.keys[:used], "alive": self.alive[:used], "null": self._meta[_NULL:]}

    def load(self, saved: dict[str, npt.NDArray[Any]]) -> None:
        used = len(saved["alive"])
        while self.capacity < used:
            self._widen()
        self.keys[:used], self.alive[:used] = saved["keys"], saved["alive"]
        freed = np.flatnonzero(~self.alive[:used])[::-1]
        self._free[: len(freed)] = freed
        self._meta[:] = used, len(freed), int(saved["null"][0])
        self.rebuild()

    def _widen(self) -> None:
        self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)])
        self.alive = np.concatenate([self.alive, np.zeros_like(self.alive)])
        self._free = np.concatenate([self._free, np.zeros_like(self._free)])

    def _grow(self) -> None:
        self._widen()
        self.rebuild()


class OneTable(SlotTable):
    """Keys of one column. An entry of the table is the key and its slot plus one, so that finding
    a key reads one cache line. If the keys are close together, an array indexed from the lowest
    key on also has their slots plus one."""

    def __init__(self) -> None:
        super().__init__(1)

    def find(self, rows: Ints, valid: Mask | None) -> Slots:
        if valid is not None:
            found = np.full(len(rows), self._null_slot(), np.int32)
            found[valid] = self.find(rows[valid], None)
            return found
        found = np.empty(len(rows), np.int32)
        done = 0
        while True:
            done = _find_one(
                rows,
                done,
                found,
                self._lowest,
                self._direct,
                self._table,
                self.keys,
                self.alive,
                self._free,
                self._meta,
            )
            if done == len(found):
                return found
            self._grow()

    def _null_slot(self) -> int:
        while self.null < 0:
            self._meta[_NULL] = _new_slot(self.alive, self._free, self._meta)
            if self.null < 0:
                self._grow()
        return self.null

    def rebuild(self) -> None:
        self._table = np.zeros((self._entries, 2), np.int64)
        self._lowest, size = self._near()
        self._direct = np.zeros(size, np.int32)
        _fill_one(self._table, self._lowest, self._direct, self.keys, self.alive, self.null)

    def _near(self) -> tuple[int, int]:
        """The range of keys that are found by direct indexing."""
        there = self.alive.copy()
        if self.null >= 0:
            there[self.null] = False
        keys = self.keys[there, 0]
        if len(keys) == 0:
            return 0, 0
        low, high = int(keys.min()), int(keys.max())
        span = high - low + 1
        if span > _SPARSE * self.capacity:
            return 0, 0
        # Ids grow upwards: leave as much room above as is taken.
        return low, 2 * span if high + span < 2**63 else span


class RowTable(SlotTable):
    """Keys of several columns. A word of the table is half of the key's hash over its slot plus
    one."""

    def find(self, rows: Ints, valid: Mask | None) -> Slots:
        assert valid is None  # nulls are part of the rows
        found = np.empty(len(rows), np.int32)
        done = 0
        while True:
            done = _find_rows(
                rows, done, found, self._table, self.keys, self.alive, self._free, self._meta
            )
            if done == len(found):
                return found
            self._grow()

    def rebuild(self) -> None:
        self._table = np.zeros(self._entries, np.uint64)
        _fill_rows(self._table, self.keys, self.alive)


@cached_njit
def _new_slot(alive, free, meta):  # type: ignore[no-untyped-def]
    """A slot that is not in use, or -1."""
    if meta[_FREED] > 0:
        meta[_FREED] -= 1
        slot = np.int64(free[meta[_FREED]])
    elif meta[_USED] < len(alive):
        slot = meta[_USED]
        meta[_USED] += 1
    else:
        return -1
    alive[slot] = True
    return slot


@cached_njit
def _find_one(rows, first, found, lowest, direct, table, keys, alive, free, meta):  # type: ignore[no-untyped-def]
    """Almost all keys exist already, so specialized loops look those up."""
    while True:
        if len(direct) > 0:
            first = _known_near(rows, first, found, lowest, direct)
        else:
            first = _known(rows, first, found, table)
        if first == len(rows):
            return first
        slot = _add_one(rows[first], lowest, direct, table, keys, alive, free, meta)
        if slot < 0:
            return first
        found[first] = slot
        first += 1


@cached_njit
def _known_near(rows, first, found, lowest, direct):  # type: ignore[no-untyped-def]
    """Looks up rows until one is not found by direct indexing; returns that row."""
    near = np.uint64(len(direct))
    for row in range(first, len(rows)):
        away = np.uint64(rows[row] - lowest)
        if away >= near or direct[away] == 0:
            return row
        found[row] = direct[away] - 1
    return len(rows)


@cached_njit
def _known(rows, first, found, table):  # type: ignore[no-untyped-def]
    """Looks up rows until one is not in the table; returns that row."""
    # Unsigned indexes avoid numba's check for negative ones.
    last = np.uint64(len(table) - 1)
    shift = place_shift(len(table))
    for row in range(first, len(rows)):
        if row + AHEAD < len(rows):
            prefetch(table, np.int64(mixed(rows[row + AHEAD]) >> shift), 0)
        key = rows[row]
        place = mixed(key) >> shift
        while table[place, 1] != 0 and table[place, 0] != key:
            place = (place + _ONE) & last
        slot = table[place, 1] - 1
        if slot < 0:
            return row
        found[row] = slot
    return len(rows)


@cached_njit
def _add_one(key, lowest, direct, table, keys, alive, free, meta):  # type: ignore[no-untyped-def]
    """The slot of a key that may be new; -1 if it does not fit."""
    last = np.uint64(len(table) - 1)
    place = mixed(key) >> place_shift(len(table))
    while table[place, 1] != 0 and table[place, 0] != key:
        place = (place + _ONE) & last
    if table[place, 1] != 0:
        return table[place, 1] - 1
    slot = _new_slot(alive, free, meta)
    if slot >= 0:
        keys[slot, 0] = table[place, 0] = key
        table[place, 1] = slot + 1
        away = np.uint64(key - lowest)
        if away < np.uint64(len(direct)):
            direct[away] = slot + 1
    return slot


@cached_njit
def _fill_one(table, lowest, direct, keys, alive, null):  # type: ignore[no-untyped-def]
    last = np.uint64(len(table) - 1)
    shift = place_shift(len(table))
    near = np.uint64(len(direct))
    for slot in range(len(alive)):
        if alive[slot] and slot != null:
            key = keys[slot, 0]
            place = mixed(key) >> shift
            while table[place, 1] != 0:
                place = (place + _ONE) & last
            table[place, 0] = key
            table[place, 1] = slot + 1
            away = np.uint64(key - lowest)
            if away < near:
                direct[away] = slot + 1


@cached_njit
def _find_rows(rows, first, found, table, keys, alive, free, meta):  # type: ignore[no-untyped-def]
    while True:
        first, place, hashed = _known_rows(rows, first, found, table, keys)
        if first == len(rows):
            return first
        slot = _new_slot(alive, free, meta)
        if slot < 0:
            return first
        for i in range(rows.shape[1]):
            keys[slot, i] = rows[first, i]
        table[place] = (hashed << _HALF) | np.uint64(slot + 1)
        found[first] = slot
        first += 1


@cached_njit
def _known_rows(rows, first, found, table, keys):  # type: ignore[no-untyped-def]
    """Looks up rows until one is not in the table; returns that row, its index and its hash."""
    last = np.uint64(len(table) - 1)
    shift = place_shift(len(table))
    width = rows.shape[1]
    for row in range(first, len(rows)):
        hashed = hash_row(rows, row)
        place = hashed >> shift
        tag = hashed << _HALF
        while True:
            word = table[place]
            if word == 0:
                return row, place, hashed
            if word & _TAG == tag:
                slot = (word & _SLOT) - _ONE
                same = True
                for i in range(width):
                    same &= keys[slot, np.uint64(i)] == rows[row, i]
                if same:
                    found[row] = np.int64(slot)
                    break
            place = (place + _ONE) & last
    return len(rows), np.uint64(0), np.uint64(0)


@cached_njit
def _fill_rows(table, keys, alive):  # type: ignore[no-untyped-def]
    last = np.uint64(len(table) - 1)
    shift = place_shift(len(table))
    for slot in range(len(alive)):
        if alive[slot]:
            hashed = hash_row(keys, slot)
            place = hashed >> shift
            while table[place] != 0:
                place = (place + _ONE) & last
            table[place] = (hashed << _HALF) | np.uint64(slot + 1)
