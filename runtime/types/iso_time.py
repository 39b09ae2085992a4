"""Parses a column of ISO 8601 times. A time without a zone is UTC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from runtime.types.columns import (
    Mask,
    Micros,
    cast_or_null,
    null_rows,
    true_rows,
    whole_numbers,
    without,
)
from runtime.types.text_patterns import ISO, SPACES, ZONE, whole_text

_FINER = r"(\.[0-9]{6})[0-9]+"
_FINER_NOT_ZERO = r"\.[0-9]{6}[0-9]*[1-9]"

_LOCAL = pa.timestamp("us")
_ZONED = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class IsoTimes:
    """The microseconds of each row (0 if invalid). `truncated` times had a finer resolution."""

    micros: Micros
    good: Mask
    zoned: Mask
    truncated: int


def read_iso(column: pa.Array) -> IsoTimes:
    for target in (_LOCAL, _ZONED):  # nearly always all rows have the same format
        try:
            return _times(column.cast(target), zoned=target is _ZONED)
        except pa.ArrowInvalid:
            continue
    return _read_each(column)


def _times(times: pa.Array, zoned: bool) -> IsoTimes:
    good = ~null_rows(times)
    return IsoTimes(_micros(times), good, np.full(len(times), zoned), 0)


def _micros(times: pa.Array) -> Micros:
    return whole_numbers(times.cast(pa.int64())).astype(np.int64, copy=False)


def _read_each(column: pa.Array) -> IsoTimes:
    column = without(column, ~true_rows(pc.match_substring_regex(column, whole_text(ISO))))
    column = pc.utf8_trim(column, SPACES)
    finer = true_rows(pc.match_substring_regex(column, _FINER_NOT_ZERO))
    column = pc.replace_substring_regex(column, _FINER, r"\1")
    zoned = true_rows(pc.match_substring_regex(column, rf"[ T].*{ZONE}$"))
    # A date that does not exist (February 30) matches the pattern; the cast rejects it.
    local_times = cast_or_null(without(column, zoned), _LOCAL)
    zoned_times = cast_or_null(without(column, ~zoned), _ZONED)
    good = ~(null_rows(local_times) & null_rows(zoned_times))
    micros = _micros(local_times) + _micros(zoned_times)  # one of the two is 0 in every row
    return IsoTimes(micros, good, zoned, int((finer & good).sum()))
