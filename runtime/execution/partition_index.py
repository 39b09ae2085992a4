"""Maps each combination of partition attribute values to a dense slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from runtime.execution.column import Ints, Mask, MaskedColumn
from runtime.execution.hash_table import OneTable, RowTable, Slots, SlotTable
from runtime.execution.interner import Interner
from runtime.types.attribute_kinds import is_encoded

Saved = dict[str, Any]


class PartitionIndex:
    """The slots of the live keys. `types` are those of the attributes, in the order of
    `partition_by`; keys come and are returned in these types.

    A key of one column is an int64: an integer itself, the bits of a double, or the number of a
    text in an interner. A key of several columns is a row of these and a bit mask of the nulls."""

    def __init__(self, types: Mapping[str, pa.DataType]) -> None:
        self._encoders = {name: _Encoder(data_type) for name, data_type in types.items()}
        self._table: SlotTable = OneTable() if len(types) <= 1 else RowTable(len(types) + 1)

    @property
    def capacity(self) -> int:
        """All slots are below this; it grows by doubling."""
        return self._table.capacity

    @property
    def top(self) -> int:
        """All slots in use are below this."""
        return self._table.top

    @property
    def count(self) -> int:
        return self._table.count

    @property
    def nbytes(self) -> int:
        texts = [encoder.texts for encoder in self._encoders.values()]
        return self._table.nbytes + sum(known.nbytes for known in texts if known is not None)

    def slots(self, events: pa.RecordBatch) -> Slots:
        """The slot of each event's key. A missing column is all null."""
        if not self._encoders:
            return self._table.find(np.zeros(events.num_rows, np.int64), None)
        names = set(events.schema.names)
        return self.slots_of(
            [
                events.column(name) if name in names else pa.nulls(events.num_rows, encoder.type)
                for name, encoder in self._encoders.items()
            ]
        )

    def slots_of(self, columns: list[pa.Array]) -> Slots:
        encoders = self._encoders.values()
        coded = [encoder.codes(column) for encoder, column in zip(encoders, columns, strict=True)]
        if len(coded) == 1:
            return self._table.find(*coded[0])
        rows = np.empty((len(columns[0]), len(coded) + 1), np.int64)
        nulls = np.zeros(len(rows), np.int64)
        for i, (codes, valid) in enumerate(coded):
            rows[:, i] = codes if valid is None else np.where(valid, codes, 0)
            if valid is not None:
                nulls |= (~valid).astype(np.int64) << i
        rows[:, -1] = nulls
        return self._table.find(rows, None)

    @property
    def width(self) -> int:
        """The number of attributes of a key."""
        return len(self._encoders)

    def columns(self, slots: Slots | Ints) -> list[pa.Array]:
        """The values of the keys of these slots, a column for each attribute."""
        return [self.column(slots, place) for place in range(self.width)]

    def column(self, slots: Slots | Ints, place: int) -> pa.Array:
        """The values of one attribute."""
        null = self._null(slots, place)
        valid = ~null if null is not None and null.any() else None
        return list(self._encoders.values())[place].values(self._table.keys[slots, place], valid)

    def release(self, dead: Mask) -> None:
        """Drops the keys of these slots, which can be reused from now on. Takes time proportional
        to the capacity, so it should release many slots at once."""
        before = self.count
        self._table.release(dead)
        if self.count != before:
            for i, encoder in enumerate(self._encoders.values()):
                self._forget(i, encoder)

    def save(self) -> Saved:
        """Numpy arrays, and Arrow arrays for texts, by name."""
        saved: Saved = dict(self._table.save())
        for i, encoder in enumerate(self._encoders.values()):
            if encoder.texts is not None:
                saved[f"texts{i}"] = encoder.texts.binary(np.arange(encoder.texts.size))
        return saved

    def load(self, saved: Saved) -> None:
        """Restores saved keys, each in its slot."""
        for i, encoder in enumerate(self._encoders.values()):
            if encoder.texts is not None:
                encoder.texts.ids(saved[f"texts{i}"])
        self._table.load(saved)

    def _null(self, slots: Slots | Ints, column: int) -> Mask | None:
        """A mask of the slots with null in a column; None if no key has one."""
        if self.width > 1:
            nulls: Mask = (self._table.keys[slots, -1] >> column) & 1 == 1
            return nulls
        here: Mask | None = slots == self._table.null if self._table.null >= 0 else None
        return here

    def _forget(self, column: int, encoder: _Encoder) -> None:
        """Drops texts that no live key has, once they are the majority."""
        if encoder.texts is None:
            return
        null = self._null(np.arange(self.capacity), column)
        holds = self._table.alive if null is None else self._table.alive & ~null
        codes = self._table.keys[holds, column]
        used = np.zeros(encoder.texts.size, np.bool_)
        used[codes] = True
        if 2 * np.count_nonzero(used) < len(used):
            renamed = encoder.texts.keep(np.flatnonzero(used))
            self._table.keys[holds, column] = renamed[codes]
            self._table.rebuild()


class _Encoder:
    """Converts the values of one attribute to int64 and back."""

    def __init__(self, data_type: pa.DataType) -> None:
        self.type = data_type
        self._plain = data_type.value_type if is_encoded(data_type) else data_type
        self._number = _is_number(self._plain)
        self.texts = None if self._number or pt.is_null(self._plain) else Interner()

    def codes(self, column: pa.Array) -> tuple[Ints, Mask | None]:
        if self.texts is not None:
            column = _as_bytes(column)
            valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
            return self.texts.ids(column), valid
        cells = MaskedColumn.of(column)
        values = cells.values
        if values.dtype == np.float64:
            return (values + 0.0).view(np.int64), cells.valid  # -0.0 is 0.0
        if values.dtype == np.uint64:
            return values.view(np.int64), cells.valid
        return values.astype(np.int64, copy=False), cells.valid

    def values(self, codes: Ints, valid: Mask | None) -> pa.Array:
        if pt.is_null(self._plain):
            return pa.nulls(len(codes))
        if self.texts is None:
            return _as(_numbers(codes, valid, self._plain), self.type)
        if valid is None:
            there = self.texts.binary(codes)
        else:
            places = pa.array(np.cumsum(valid) - 1, mask=~valid)
            there = self.texts.binary(codes[valid]).take(places)
        return _as(_from_bytes(there, self._plain), self.type)


def _is_number(data_type: pa.DataType) -> bool:
    """Whether a value fits into 64 bits."""
    if pt.is_temporal(data_type):
        return bool(data_type.bit_width <= 64)
    tests = (pt.is_integer, pt.is_floating, pt.is_boolean)
    return any(test(data_type) for test in tests)


def _numbers(codes: Ints, valid: Mask | None, data_type: pa.DataType) -> pa.Array:
    mask = None if valid is None else ~valid
    if pt.is_floating(data_type):
        return _as(pa.array(codes.view(np.float64), mask=mask), data_type)
    if pt.is_uint64(data_type):
        return pa.array(codes.view(np.uint64), mask=mask)
    if pt.is_boolean(data_type):
        return pa.array(codes != 0, mask=mask)
    if pt.is_temporal(data_type):
        bits = np.int32 if data_type.bit_width == 32 else np.int64
        return pa.array(codes.astype(bits), mask=mask).view(data_type)
    return _as(pa.array(codes, mask=mask), data_type)


def _as(column: pa.Array, data_type: pa.DataType) -> pa.Array:
    return column if column.type == data_type else column.cast(data_type)


def _as_bytes(column: pa.Array) -> pa.Array:
    if is_encoded(column.type):
        column = column.cast(column.type.value_type)
    data_type = column.type
    if pt.is_string(data_type) or pt.is_binary(data_type):
        return column
    if pt.is_large_string(data_type) or pt.is_large_binary(data_type):
        return column
    if pt.is_string_view(data_type) or pt.is_binary_view(data_type):
        return column.cast(pa.large_binary())
    if not pt.is_fixed_size_binary(data_type):  # such as decimals: equal values have equal bytes
        column = column.view(pa.binary(data_type.bit_width // 8))
    return column.cast(pa.large_binary())


def _from_bytes(column: pa.Array, data_type: pa.DataType) -> pa.Array:
    if pt.is_string(data_type) or pt.is_binary(data_type):
        return column.cast(data_type)
    if pt.is_large_string(data_type) or pt.is_large_binary(data_type):
        return column.cast(data_type)
    if pt.is_string_view(data_type) or pt.is_binary_view(data_type):
        return column.cast(data_type)
    fixed = column.cast(pa.binary()).cast(pa.binary(data_type.bit_width // 8))
    return fixed if fixed.type == data_type else fixed.view(data_type)
