"""Parses a column of text, and returns a mask of the invalid rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.types.columns import Mask, cast_or_null, null_rows, true_rows, without
from runtime.types.iso_time import read_iso

WHOLE = r"^[+-]?[0-9]+$"
NUMBER = r"(?i)^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$|^[+-]?(nan|inf|infinity)$"


def parse(column: pa.Array, target: pa.DataType) -> tuple[pa.Array, Mask]:
    """The values of a string column as `target`, null if invalid, and the mask of invalid rows.

    The meaning of a value must not depend on its neighbours: the fast path (one cast for all)
    accepts no value that the slow path (each value separately) rejects.
    """
    if pt.is_string(target):
        return column, np.zeros(len(column), dtype=np.bool_)
    if pt.is_timestamp(target):
        return _parse_times(column, target)
    values = _cast_all(column, target)
    if values is None:
        values = _cast_each(column, target)
    return values, null_rows(values) & ~null_rows(column)


def _cast_all(column: pa.Array, target: pa.DataType) -> pa.Array | None:
    if pt.is_integer(target) and pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py():
        return None  # Arrow would accept hexadecimal
    try:
        return column.cast(target)
    except pa.ArrowInvalid:
        return None


def _cast_each(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Drops values that do not match the pattern first; other failures (overflow) are rare."""
    column = pc.utf8_trim_whitespace(column)
    if pt.is_integer(target):
        column = without(column, ~true_rows(pc.match_substring_regex(column, WHOLE)))
        column = pc.utf8_ltrim(column, "+")
    elif pt.is_floating(target):
        column = without(column, ~true_rows(pc.match_substring_regex(column, NUMBER)))
    return cast_or_null(column, target)


def _parse_times(column: pa.Array, target: pa.DataType) -> tuple[pa.Array, Mask]:
    read = read_iso(column)
    times = pa.array(read.micros, mask=~read.good).cast(pa.timestamp("us", target.tz))
    if target.unit != "us":
        times = cast_or_null(times, target) if target.unit == "ns" else times.cast(target, False)
    return times, null_rows(times) & ~null_rows(column)
