"""Columns as numpy values with a validity mask.

Values of null rows are undefined. Text and bytes stay in Arrow, which compares them
byte by byte: in UTF-8 that is the order of code points, as Python orders text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from runtime.types.columns import plain

Mask: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]

_TOP = np.uint64(1 << 63)
_REST = np.int64(2**63 - 1)
_WIDTHS = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


@dataclass(frozen=True)
class MaskedColumn:
    """`values`: int64, uint64, float64 or bool, or an Arrow array of text or bytes.
    `valid`: None if no row is null."""

    values: Any
    valid: Mask | None = None

    @classmethod
    def of(cls, column: pa.Array) -> MaskedColumn:
        data_type = column.type
        if pt.is_null(data_type):
            return cls(np.zeros(len(column), np.bool_), np.zeros(len(column), np.bool_))
        if pt.is_temporal(data_type) and data_type.bit_width <= 64:
            return cls(
                words_of(column, _WIDTHS[data_type.bit_width]).astype(np.int64), _valid(column)
            )
        column = plain(column)
        if pt.is_boolean(column.type):
            filled = column.fill_null(False) if column.null_count else column
            return cls(filled.to_numpy(zero_copy_only=False), _valid(column))
        if pt.is_integer(column.type) or pt.is_floating(column.type):
            return cls(words_of(column, column.type.to_pandas_dtype()), _valid(column))
        return cls(column, _valid(column))

    @property
    def is_arrow(self) -> bool:
        return isinstance(self.values, pa.Array)

    def doubles(self) -> Doubles:
        """Doubles, NaN for null. Integers beyond 2**53 are rounded, as `float` does."""
        numbers: Doubles = self.values.astype(np.float64, copy=False)
        return numbers if self.valid is None else np.where(self.valid, numbers, np.nan)

    def mask(self, size: int) -> Mask:
        return np.ones(size, np.bool_) if self.valid is None else self.valid


def whole_order(values: npt.NDArray[Any]) -> Ints:
    """Numbers as int64 of the same order: signed integers unchanged, unsigned ones with the top
    bit flipped, doubles by their bits."""
    if values.dtype == np.float64:
        bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
        return _fold(bits)
    if values.dtype == np.uint64:
        return (values ^ _TOP).view(np.int64)
    return values.astype(np.int64, copy=False)


def from_whole_order(order: Ints, data_type: pa.DataType) -> npt.NDArray[Any]:
    """The inverse of `whole_order` for an attribute of this type."""
    if pt.is_floating(data_type):
        return _fold(order).view(np.float64)
    if pt.is_uint64(data_type):
        return order.view(np.uint64) ^ _TOP
    return order


def _fold(bits: Ints) -> Ints:
    """Doubles order by their bits if the bits below the sign are flipped for negative ones. Its
    own inverse."""
    folded: Ints = bits ^ ((bits >> 63) & _REST)
    return folded


def words_of(column: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    """The raw values of the column, including those of null rows."""
    data = column.buffers()[1]
    if data is None or len(column) == 0:
        return np.zeros(len(column), dtype)
    return np.frombuffer(data, dtype, len(column) + column.offset)[column.offset :]


def _valid(column: pa.Array) -> Mask | None:
    if column.null_count == 0:
        return None
    valid: Mask = column.is_valid().to_numpy(zero_copy_only=False)
    return valid
