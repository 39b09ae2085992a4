"""Converts Arrow columns of any type to the few plain types that the engine uses."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.types.attribute_kinds import AttributeKind, is_encoded, is_text, kind_of

Column: TypeAlias = "pa.Array | pa.ChunkedArray"
Mask: TypeAlias = npt.NDArray[np.bool_]
Micros: TypeAlias = npt.NDArray[np.int64]

# Not `time` and `type`: a query may use attributes of these names.
TIME = "__time__"
TYPE = "__type__"
# The pane of an event, where Spark has computed it.
PANE = "__pane__"
# Few types, many events: each batch has their names once.
TYPES = pa.dictionary(pa.int32(), pa.string())

_WHEN_ALL_NULL = {AttributeKind.NUMBER: pa.float64(), AttributeKind.BOOL: pa.bool_()}
_BYTES = (pt.is_large_binary, pt.is_binary_view, pt.is_fixed_size_binary)
_DECIMALS = {32: pa.decimal32, 64: pa.decimal64, 128: pa.decimal128, 256: pa.decimal256}
# Every whole number of so many digits, and ten to the power of so many, is a double.
_EXACT_DIGITS, _EXACT_POWER = 15, 22


def plain_type(data_type: pa.DataType) -> pa.DataType:
    """The plain type that represents all types with the same values."""
    if isinstance(data_type, pa.BaseExtensionType):
        return plain_type(data_type.storage_type)
    if is_encoded(data_type):
        return plain_type(data_type.value_type)
    if is_text(data_type):
        return pa.string()
    if any(test(data_type) for test in _BYTES):
        return pa.binary()
    if pt.is_integer(data_type):  # only uint64 does not fit into int64
        return pa.uint64() if pt.is_uint64(data_type) else pa.int64()
    if pt.is_floating(data_type) or pt.is_decimal(data_type):
        return pa.float64()
    return data_type


def event_type(data_type: pa.DataType, use: AttributeKind) -> pa.DataType:
    """The type that a column has in events, by its use if it holds only nulls."""
    plain = plain_type(data_type)
    return _WHEN_ALL_NULL.get(use, pa.string()) if pt.is_null(plain) else plain


def comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether values of both types can be compared. Times are compared as whole numbers of their
    unit, so they need the same unit; nulls compare with everything."""
    one, other = plain_type(one), plain_type(other)
    if pt.is_timestamp(one) and pt.is_timestamp(other):
        return one.unit == other.unit and (one.tz is None) == (other.tz is None)
    kind = kind_of(one)
    alike = one == other if kind is AttributeKind.ANY else kind is kind_of(other)
    return alike or pt.is_null(one) or pt.is_null(other)


def plain(column: Column) -> pa.Array:
    """The column as one array of its plain type."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # pyarrow below 22 returns a chunked array here
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return _unpacked(array)


def _unpacked(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        return _unpacked(array.storage)
    if pt.is_run_end_encoded(array.type):
        return _unpacked(pc.run_end_decode(array))
    if pt.is_dictionary(array.type):
        return _unpacked(array.dictionary_decode())
    target = plain_type(array.type)
    if pt.is_decimal(array.type):
        return _nearest_doubles(array)
    return array if array.type == target else array.cast(target, safe=False)


def _nearest_doubles(decimals: pa.Array) -> pa.Array:
    """The double nearest to each decimal, as Spark has it: it decides the shard of a key. Arrow's
    own cast multiplies by an inexact power of ten, so 0.3 would become 0.30000000000000004."""
    precision, scale = decimals.type.precision, decimals.type.scale
    digits = decimals.view(_DECIMALS[decimals.type.bit_width](precision, 0))
    if precision <= _EXACT_DIGITS and 0 <= scale <= _EXACT_POWER:  # one rounding, by the division
        return pc.divide(digits.cast(pa.float64()), 10.0**scale)
    text = pc.binary_join_element_wise(digits.cast(pa.string()), f"e{-scale}", "")
    return text.cast(pa.float64())


def encoded_text(column: Column) -> pa.Array:
    """The column as dictionary-encoded text. Null stays null."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.DictionaryArray) and _is_plain_dictionary(array.dictionary):
        names = array.dictionary.cast(pa.string())
        return pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), names)
    return plain(column).cast(pa.string()).dictionary_encode()


def _is_plain_dictionary(values: pa.Array) -> bool:
    return is_text(values.type) and values.null_count == 0 and len(values) == len(values.unique())


def true_rows(mask: pa.Array) -> Mask:
    """An Arrow mask as numpy; null is false."""
    filled: Mask = pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
    return filled


def null_rows(column: pa.Array) -> Mask:
    if column.null_count == 0:
        return np.zeros(len(column), dtype=np.bool_)
    return true_rows(column.is_null())


def whole_numbers(column: pa.Array) -> npt.NDArray[np.int64] | npt.NDArray[np.uint64]:
    """The values of an integer column, 0 for null."""
    if column.null_count:
        column = pc.fill_null(column, pa.scalar(0, column.type))
    values: npt.NDArray[np.int64] = column.to_numpy(zero_copy_only=False)
    return values


def without(column: pa.Array, rows: Mask) -> pa.Array:
    """The column with null in these rows."""
    if not rows.any():
        return column
    return pc.if_else(pa.array(rows), pa.scalar(None, column.type), column)


def cast_or_null(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Casts a column; values that cannot be cast become null. It finds those by bisection, so they
    should be few."""
    try:
        return column.cast(target)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return pa.nulls(1, target)
    half = len(column) // 2
    return pa.concat_arrays([cast_or_null(part, target) for part in (column[:half], column[half:])])


def same_values(data_type: pa.DataType, other: pa.DataType) -> bool:
    """Whether a cast between two plain types keeps the meaning of values.

    Arrow also casts between integers and timestamps, which does not.
    """
    if pt.is_null(data_type):
        return True
    if pt.is_timestamp(data_type) and pt.is_timestamp(other):
        return bool((data_type.tz is None) == (other.tz is None))
    return _is_number(data_type) and _is_number(other)


def _is_number(data_type: pa.DataType) -> bool:
    return bool(pt.is_integer(data_type) or pt.is_floating(data_type))


def times_of(batch: pa.RecordBatch) -> Micros:
    times: Micros = batch.column(TIME).to_numpy()
    return times
