"""Reads the footers of Parquet files: where each row group lies, its rows and its times."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from runtime.io.formats import Format, by_name
from runtime.types.time_codec import DAY, LIMIT, UNITS

_PER_MICRO = {"milliseconds": 1_000, "microseconds": 1}


@dataclass(frozen=True)
class RowGroup:
    """A reader of a byte range reads the groups whose `middle` is in it. `bytes` are those of the
    columns to read. `times` are the earliest and the latest, in microseconds; None if the footer
    has no statistics."""

    middle: int
    bytes: int
    rows: int
    times: tuple[int, int] | None


def row_groups(
    path: Path,
    time_column: str,
    unit: str | None,
    wants: Callable[[str], bool] = lambda column: True,
) -> tuple[RowGroup, ...] | None:
    """The row groups of a Parquet file, in order; None if it cannot be read. `wants` says which
    columns are to be read."""
    try:
        with pq.ParquetFile(path) as file:
            place = _place(file, time_column)
            return tuple(
                _row_group(file, number, place, unit, wants)
                for number in range(file.num_row_groups)
            )
    except (OSError, pa.ArrowException):
        return None


def span(path: Path, column: str, unit: str | None) -> tuple[int, int] | None:
    """The earliest and the latest time of a Parquet file, in microseconds, from its footer; None
    if the footer has no statistics."""
    if by_name(path) is not Format.PARQUET:
        return None
    groups = row_groups(path, column, unit)
    return None if not groups else span_of(groups)


def earliest_from(groups: Sequence[RowGroup], at: int) -> int | None:
    """The earliest time of the row groups from an offset on, if it is known."""
    known = span_of([group for group in groups if group.middle >= at])
    return None if known is None else known[0]


def span_of(groups: Sequence[RowGroup]) -> tuple[int, int] | None:
    """The earliest and the latest time of some row groups; None if one of them is unknown."""
    known = [group.times for group in groups if group.times is not None]
    if not known or len(known) < len(groups):
        return None
    return min(least for least, _ in known), max(most for _, most in known)


def rows_between(groups: Sequence[RowGroup], start: int, end: int) -> int:
    """The rows that a reader of this byte range reads."""
    return sum(group.rows for group in groups if start <= group.middle < end)


def _place(file: Any, column: str) -> int | None:
    """The place of the time column among all leaf columns."""
    metadata, names = file.metadata, file.schema_arrow.names
    if column not in names or not metadata.num_row_groups:
        return None
    first = metadata.row_group(0)
    paths = [first.column(n).path_in_schema for n in range(metadata.num_columns)]
    return paths.index(column) if column in paths else None


def _row_group(
    file: Any, number: int, place: int | None, unit: str | None, wants: Callable[[str], bool]
) -> RowGroup:
    group = file.metadata.row_group(number)
    chunks = [group.column(n) for n in range(group.num_columns)]
    sizes = [chunk.total_compressed_size for chunk in chunks]
    read = [
        size
        for chunk, size in zip(chunks, sizes, strict=True)
        if wants(chunk.path_in_schema.split(".")[0])
    ]
    times = None
    if place is not None:
        kind = file.schema_arrow.field(chunks[place].path_in_schema).type
        times = _micros(chunks[place].statistics, kind, unit)
    return RowGroup(_start(chunks) + sum(sizes) // 2, sum(read), group.num_rows, times)


def _start(chunks: list[Any]) -> int:
    """Where a group begins: as Parquet's Java library, by its first column alone."""
    if not chunks:
        return 0
    data, words = chunks[0].data_page_offset, chunks[0].dictionary_page_offset
    return int(data if words is None or not 0 < words < data else words)


def _micros(statistics: Any, kind: pa.DataType, unit: str | None) -> tuple[int, int] | None:
    if statistics is None or not statistics.has_min_max:
        return None
    bounds = statistics.min_raw, statistics.max_raw
    if not all(isinstance(each, int) for each in bounds):
        return None
    factor = _factor(statistics, kind, unit)
    if factor is None:
        return None
    times = (int(each * factor) if factor >= 1 else int(each) // 1_000 for each in bounds)
    # A row with a time beyond these is no event, and a watermark would not fit into 64 bits.
    least, most = (min(max(time, -LIMIT), LIMIT) for time in times)
    return least, most


def _factor(statistics: Any, kind: pa.DataType, unit: str | None) -> float | None:
    """Microseconds per unit of the stored times; below 1 for nanoseconds."""
    if pt.is_timestamp(kind):
        written = json.loads(statistics.logical_type.to_json()).get("timeUnit")
        return {"nanoseconds": 0.001, **_PER_MICRO}.get(written)
    if pt.is_date32(kind):
        return DAY
    if pt.is_signed_integer(kind):
        return 0.001 if unit == "ns" else UNITS[unit or "s"]
    return None
