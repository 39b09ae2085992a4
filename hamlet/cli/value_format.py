"""Formats the values of results for tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

# Numbers of up to this many digits are written out, larger ones in scientific notation.
WRITTEN_OUT = 15
SHOWN_DIGITS = 6


def is_number(data_type: pa.DataType) -> bool:
    return bool(pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_decimal(data_type))


def format_column(column: pa.Array, counted: bool, logs: Sequence[Any] | None = None) -> list[str]:
    """The values of a column as text. `counted`: a count or sum, which the exact engine gives as
    decimal text; `logs`: base-2 logarithms of values that exceed a double."""
    if pt.is_temporal(column.type):
        return [_time(text) for text in column.cast(pa.string()).to_pylist()]
    values = column.to_pylist()
    if logs is not None:
        pairs = zip(values, logs, strict=True)
        return [_from_log(v, log) if log is not None else _number(v, 0) for v, log in pairs]
    if counted and pt.is_string(column.type):
        return [_digits(value) for value in values]
    if is_number(column.type):
        places = _places(values)
        return [_number(value, places) for value in values]
    return ["" if value is None else str(value) for value in values]


def _places(values: Sequence[float | int | None]) -> int:
    """The number of decimals of a column: the same for all values, so that the points align."""
    fractions = [abs(v) for v in values if v is not None and math.isfinite(v) and v != int(v)]
    if not fractions:
        return 0
    return 2 if max(fractions) >= 1_000 else 4


def _number(value: float | int | None, places: int) -> str:
    if value is None:
        return ""
    size = abs(value)
    if isinstance(value, int):
        return f"{value:,}"
    if size >= 10**WRITTEN_OUT:
        return f"{value:.{SHOWN_DIGITS - 1}e}"
    if places and 0 < size < 10**-places:
        return f"{value:.{SHOWN_DIGITS - 1}g}"
    return f"{value:,.{places}f}"


def _from_log(value: float, log: float) -> str:
    """A value that exceeds a double, in scientific notation."""
    tens = log * math.log10(2)
    exponent = math.floor(tens)
    sign = "-" if value < 0 else ""
    return f"{sign}{10 ** (tens - exponent):.{SHOWN_DIGITS - 1}f}e+{exponent}"


def _digits(text: str | None) -> str:
    if text is None:
        return ""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if len(digits) <= 2 * WRITTEN_OUT:
        return f"{sign}{int(digits):,}"
    return f"{sign}{digits[0]}.{digits[1:SHOWN_DIGITS]}…e+{len(digits) - 1}"


def _time(text: str | None) -> str:
    """`2026-03-01 12:00:00.000000Z` without trailing zeros."""
    if text is None:
        return ""
    moment, zone = (text[:-1], "Z") if text.endswith("Z") else (text, "")
    if "." in moment:
        moment = moment.rstrip("0").rstrip(".")
    return moment + zone
