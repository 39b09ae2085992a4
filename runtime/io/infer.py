"""Infers the type of a text column from its first values and its use."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from runtime.types.attribute_kinds import AttributeKind
from runtime.types.columns import null_rows
from runtime.types.iso_time import read_iso
from runtime.types.text_parse import parse

# `007` is a code, not a number: the result would show 7.
_CODE = r"^[+-]?0[0-9]|^\+"
_BOOL = r"(?i)^(true|false)$"
_WITH_CLOCK_TIME = r"[ T][0-9]{2}"


def infer(column: pa.Array, use: AttributeKind | None) -> pa.DataType:
    """The type for a string column; null if there is no value, string if nothing fits the use."""
    if column.null_count == len(column):
        return pa.null()
    if use is None or use is AttributeKind.TEXT:
        return pa.string()
    if use is AttributeKind.NUMBER:
        return _number(column)
    if use is AttributeKind.BOOL:
        return pa.string() if _all_bad(column, pa.bool_()) else pa.bool_()
    return _guess(column)


def _all_bad(column: pa.Array, target: pa.DataType) -> bool:
    return bool((parse(column, target).bad | null_rows(column)).all())


def _number(column: pa.Array) -> pa.DataType:
    """Whole numbers if all numbers are whole. Values that are not numbers are invalid and do not
    count."""
    if _all_bad(column, pa.float64()):
        return pa.string()
    not_whole = parse(column, pa.int64()).bad
    no_number = parse(column, pa.float64()).bad
    return pa.float64() if (not_whole & ~no_number).any() else pa.int64()


def _guess(column: pa.Array) -> pa.DataType:
    if not _any_match(column, _CODE):
        for target in (pa.int64(), pa.float64()):
            if not parse(column, target).bad.any():
                return target
    if _all_match(column, _BOOL):
        return pa.bool_()
    if _all_match(column, _WITH_CLOCK_TIME):
        return _time(column)
    return pa.string()


def _time(column: pa.Array) -> pa.DataType:
    """A timestamp if all values are ISO 8601 with a time of day, all with a zone or all without."""
    times = read_iso(column)
    there = ~null_rows(column)
    zoned = times.zoned[there]
    if not times.good[there].all() or zoned.any() != zoned.all():
        return pa.string()
    return pa.timestamp("us", "UTC" if zoned.any() else None)


def _all_match(column: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _any_match(column: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())
