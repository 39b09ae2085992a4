"""Converts times of any input type to int64 microseconds, and back to that type for results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from runtime.errors import InputError
from runtime.types.columns import (
    Column,
    Mask,
    Micros,
    null_rows,
    plain,
    plain_type,
    same_values,
    whole_numbers,
)
from runtime.types.iso_time import read_iso
from runtime.types.text_parse import parse

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
DAY = 86_400_000_000

# Half the range of int64, so that differences of times and window ends still fit.
LIMIT = 2**62 - 1

Read = tuple[Micros, Mask]


class TimeCodec:
    """Reads and writes the times of one input.

    A column of strings has integers or ISO 8601. The first valid time decides which, so the type
    of results is known only after that (`decided`).
    """

    def __init__(self, data_type: pa.DataType, unit: str | None = None) -> None:
        if unit is not None and unit not in (*UNITS, "ns"):
            raise InputError(f"`{unit}` is not a unit of time", "use s, ms, us or ns")
        self.source_type = _source_type(data_type)
        self.truncated = 0
        self._unit = unit or "s"
        self._text = pt.is_string(self.source_type)
        self._type = None if self._text else _written_type(self.source_type)
        self._read: Callable[[pa.Array], Read] = self._reader(self.source_type)

    @property
    def decided(self) -> bool:
        return self._type is not None

    def set_type(self, data_type: pa.DataType) -> None:
        """Sets the type that rows of an earlier run decided."""
        self._type = data_type

    def continue_from(self, before: TimeCodec) -> None:
        self._type, self.truncated = before._type, before.truncated

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of times in results."""
        return pa.int64() if self._type is None else self._type

    @property
    def is_text(self) -> bool:
        """Whether times are read from text."""
        return bool(self._text)

    def to_micros(self, column: Column) -> Read:
        """Microseconds since 1970 (0 in invalid rows) and the mask of invalid rows and nulls."""
        array = plain(column)
        if array.type != self.source_type:
            array = self._as_before(array)
        return self._read(array)

    def to_arrow(self, micros: npt.ArrayLike) -> pa.Array:
        """Times in the type of results. A time out of the range of that type is null."""
        values = np.asarray(micros, dtype=np.int64)
        factor, finer = self._step()
        if not finer:
            return pa.array(values if factor == 1 else values // factor).view(self.type)
        beyond = np.abs(values) > np.iinfo(np.int64).max // factor
        return pa.array(np.where(beyond, 0, values) * factor, mask=beyond).view(self.type)

    def from_arrow(self, times: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
        """Microseconds of times in the type of results, none of which is null."""
        values: npt.NDArray[np.int64] = plain(times).view(pa.int64()).to_numpy()
        factor, finer = self._step()
        return values // factor if finer else values * factor

    def windows(self, results: pa.Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The starts and ends of the windows of sorted result rows, in microseconds, each
        once."""
        starts, ends = results["window_start"], results["window_end"]
        if len(starts) and starts[0].equals(starts[-1]):  # usually there is one
            return self.from_arrow(starts[:1]), self.from_arrow(ends[:1])
        every = plain(starts).view(pa.int64()).to_numpy()
        rows = pa.array(np.concatenate([[0], 1 + np.flatnonzero(every[1:] != every[:-1])]))
        return self.from_arrow(starts.take(rows)), self.from_arrow(ends.take(rows))

    def check_window(self, within: int, slide: int) -> str | None:
        """Why the type of the times cannot represent the boundaries of such windows, if so."""
        factor, finer = self._step()
        if finer or not self.decided:
            return None
        for clause, length in (("WITHIN", within), ("SLIDE", slide)):
            if length % factor:
                return (
                    f"{clause} is {_duration(length)}, but the times are in whole "
                    f"{_WORDS[factor]}: a window would begin or end between two of them"
                )
        return None

    def _step(self) -> tuple[int, bool]:
        """The factor between the unit of results and a microsecond, and whether it is finer."""
        unit = self.type.unit if pt.is_timestamp(self.type) else self._unit
        return (1_000, True) if unit == "ns" else (UNITS[unit], False)

    def _reader(self, data_type: pa.DataType) -> Callable[[pa.Array], Read]:
        if pt.is_string(data_type):
            return self._read_text
        if pt.is_timestamp(data_type):
            return lambda column: self._scale(column.cast(pa.int64()), data_type.unit)
        if pt.is_date32(data_type):
            days = pa.int32()
            return lambda column: _multiply(column.cast(days).cast(pa.int64()), DAY)
        if pt.is_date64(data_type):
            return lambda column: self._scale(column.cast(pa.int64()), "ms")
        return lambda column: self._scale(column, self._unit)

    def _as_before(self, array: pa.Array) -> pa.Array:
        as_text = self._text and (pt.is_integer(array.type) or pt.is_timestamp(array.type))
        if as_text or same_values(array.type, self.source_type):
            return array.cast(self.source_type, safe=False)
        was = f"the times were {self.source_type} and are now {array.type}"
        raise InputError(was, "all parts of an input need the same type of time")

    def _scale(self, column: pa.Array, unit: str) -> Read:
        if unit != "ns":
            return _multiply(column, UNITS[unit])
        bad = null_rows(column) | _beyond(column, np.iinfo(np.int64).max)
        micros, rest = np.divmod(np.where(bad, 0, whole_numbers(column)).astype(np.int64), 1_000)
        self.truncated += int(np.count_nonzero(rest))
        return micros, bad

    def _read_text(self, column: pa.Array) -> Read:
        if self._type is None:
            self._decide(column)
        if self._type is None:
            return np.zeros(len(column), dtype=np.int64), np.ones(len(column), dtype=np.bool_)
        if pt.is_integer(self._type):
            return self._scale(parse(column, pa.int64()).values, self._unit)
        times = read_iso(column)
        self.truncated += times.truncated
        return times.micros, ~times.good

    def _decide(self, column: pa.Array) -> None:
        """Sets the type by the first row that is an integer or ISO 8601."""
        whole = ~null_rows(parse(column, pa.int64()).values)
        iso = read_iso(column)
        good = np.flatnonzero(whole | iso.good)
        if len(good) and whole[good[0]]:
            self._type = pa.int64()
        elif len(good):
            self._type = pa.timestamp("us", "UTC" if iso.zoned[good[0]] else None)


_WORDS = {1_000_000: "seconds", 1_000: "milliseconds"}


def _source_type(data_type: pa.DataType) -> pa.DataType:
    source = plain_type(data_type)
    if pt.is_null(source):  # only nulls so far: any later type can be read as text
        return pa.string()
    if any(test(source) for test in (pt.is_integer, pt.is_string, pt.is_timestamp, pt.is_date)):
        return source
    if pt.is_floating(source):
        hint = "make it an integer (with --time-unit) or a timestamp"
        raise InputError(f"the times are {data_type}, which cannot be compared exactly", hint)
    raise InputError(f"the times are {data_type}, which is not a type of time", _ACCEPTED)


_ACCEPTED = "times are timestamps, dates, integers, or strings of integers or ISO 8601"


def _written_type(source: pa.DataType) -> pa.DataType:
    if pt.is_timestamp(source):
        return source
    if pt.is_date(source):
        return pa.timestamp("s")
    return pa.int64()  # also for narrower integers, which may not hold a window's end


def _multiply(column: pa.Array, factor: int) -> Read:
    bad = null_rows(column) | _beyond(column, LIMIT // factor)
    values = np.where(bad, 0, whole_numbers(column)).astype(np.int64)
    return values * factor, bad


def _beyond(column: pa.Array, limit: int) -> Mask:
    values = whole_numbers(column)
    beyond: Mask = values > limit
    if values.dtype != np.uint64:
        beyond |= values < -limit
    return beyond


def _duration(micros: int) -> str:
    for factor, unit in ((1_000_000, "s"), (1_000, "ms")):
        if micros % factor == 0:
            return f"{micros // factor} {unit}"
    return f"{micros} us"
