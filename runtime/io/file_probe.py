"""Inspects files before they are read: their format, columns and range of times."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from runtime.errors import InputError
from runtime.io.bytestream import is_packed, open_bytes
from runtime.io.csv_header import header_of
from runtime.io.formats import Format, by_content, by_name
from runtime.io.read import columns_of
from runtime.io.reader import ReadRequest
from runtime.types.time_codec import DAY, UNITS

# Spark holds a file that it reads in one piece several times in an executor's memory.
MOST_WHOLE = 128 << 20

_PER_MICRO = {"milliseconds": 1_000, "microseconds": 1}


@dataclass(frozen=True)
class FileKind:
    """Files of one kind can be read together. `schema` is that of Parquet; text may be `packed`;
    `header` has the columns of CSV."""

    format: Format
    schema: pa.Schema | None = None
    packed: bool = False
    header: tuple[str, ...] | None = None


@dataclass(frozen=True)
class UnreadableFile:
    reason: str


def kind_of(
    path: Path, needs: ReadRequest, wish: Format | None = None
) -> FileKind | UnreadableFile:
    """The kind of a file, from its first bytes, as the local engine determines it."""
    try:
        found = wish or by_name(path) or _by_content(path)
    except OSError as error:
        return UnreadableFile(str(error.strerror or error))
    if found is Format.ARROW:
        raise InputError(
            f"Spark does not read {path}", "use --engine local, or write it as Parquet"
        )
    if found is Format.CSV and needs.multiline and path.stat().st_size > MOST_WHOLE:
        most = f"{MOST_WHOLE >> 20} MB"
        return UnreadableFile(f"?multiline=true reads it in one piece, and it is over {most}")
    try:
        columns = columns_of(path, needs, found)
    except InputError as error:
        return UnreadableFile(error.message)
    if found is not Format.PARQUET:
        packed = is_packed(path)
        if packed and needs.multiline and found is Format.CSV:
            return UnreadableFile("it is compressed, which ?multiline=true does not support")
        header = tuple(header_of(path, needs.multiline).names) if found is Format.CSV else None
        return FileKind(found, packed=packed, header=header)
    half = next((each.name for each in columns if pt.is_float16(each.type)), None)
    if half is not None:
        return UnreadableFile(f"Spark cannot read float16 columns such as `{half}`")
    return FileKind(found, columns.remove_metadata())


def span(path: Path, column: str, unit: str | None) -> tuple[int, int] | None:
    """The earliest and the latest time of a Parquet file, in microseconds, from its footer; None
    if the footer has no statistics."""
    if by_name(path) is not Format.PARQUET:
        return None
    try:
        with pq.ParquetFile(path) as file:
            metadata, names = file.metadata, file.schema_arrow.names
            if column not in names:
                return None
            place = names.index(column)
            groups = [metadata.row_group(n).column(place) for n in range(metadata.num_row_groups)]
            kind = file.schema_arrow.field(column).type
            if not groups or any(group.path_in_schema != column for group in groups):
                return None
            found = [_micros(group.statistics, kind, unit) for group in groups]
    except (OSError, pa.ArrowException):
        return None
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return min(least for least, _ in known), max(most for _, most in known)


def _micros(statistics: Any, kind: pa.DataType, unit: str | None) -> tuple[int, int] | None:
    if statistics is None or not statistics.has_min_max:
        return None
    bounds = statistics.min_raw, statistics.max_raw
    if not all(isinstance(each, int) for each in bounds):
        return None
    factor = _factor(statistics, kind, unit)
    if factor is None:
        return None
    least, most = (int(each * factor) if factor >= 1 else int(each) // 1_000 for each in bounds)
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


def _by_content(path: Path) -> Format:
    stream, head = open_bytes(path)
    stream.close()
    return by_content(head)
