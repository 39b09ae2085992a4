"""Parses a column of text by the patterns of the contract."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.types.columns import Mask, cast_or_null, null_rows, true_rows, without
from runtime.types.iso_time import read_iso
from runtime.types.text_patterns import BOOLEAN, DATE, NUMBER, SPACES, WHOLE, whole_text


class ParsedText(NamedTuple):
    """The values, null where a text has none. A text is `wrong`, or it spells a whole number
    `beyond` the range of its type."""

    values: pa.Array
    wrong: Mask
    beyond: Mask

    @property
    def bad(self) -> Mask:
        return self.wrong | self.beyond


def parse(column: pa.Array, target: pa.DataType) -> ParsedText:
    """The values of a string column as `target`.

    The meaning of a value must not depend on its neighbours: the fast path (one cast for all)
    accepts no value that the slow path (each value separately) rejects.
    """
    nothing = np.zeros(len(column), dtype=np.bool_)
    if pt.is_string(target):
        return ParsedText(column, nothing, nothing)
    if pt.is_timestamp(target):
        times = _parse_times(column, target)
        return ParsedText(times, null_rows(times) & ~null_rows(column), nothing)
    values = _cast_all(column, target)
    if values is None:
        values = _cast_each(column, target)
    bad = null_rows(values) & ~null_rows(column)
    if not (pt.is_integer(target) and bad.any()):
        return ParsedText(values, bad, nothing)
    beyond = bad & true_rows(pc.match_substring_regex(column, whole_text(WHOLE)))
    return ParsedText(values, bad & ~beyond, beyond)


def _cast_all(column: pa.Array, target: pa.DataType) -> pa.Array | None:
    if pt.is_integer(target) and pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py():
        return None  # Arrow would accept hexadecimal
    try:
        return column.cast(target)
    except pa.ArrowInvalid:
        return None


def _cast_each(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Drops values that do not match the pattern first; other failures (overflow) are rare."""
    pattern = _pattern(target)
    if pattern is not None:
        column = without(column, ~true_rows(pc.match_substring_regex(column, whole_text(pattern))))
    column = pc.utf8_trim(column, SPACES)
    if pt.is_integer(target):
        column = pc.utf8_ltrim(column, "+")
    return cast_or_null(column, target)


def _pattern(target: pa.DataType) -> str | None:
    if pt.is_integer(target):
        return WHOLE
    if pt.is_floating(target):
        return NUMBER
    if pt.is_boolean(target):
        return BOOLEAN
    return DATE if pt.is_date(target) else None


def _parse_times(column: pa.Array, target: pa.DataType) -> pa.Array:
    read = read_iso(column)
    times = pa.array(read.micros, mask=~read.good).cast(pa.timestamp("us", target.tz))
    if target.unit == "us":
        return times
    return cast_or_null(times, target) if target.unit == "ns" else times.cast(target, False)
