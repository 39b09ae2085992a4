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
from runtime.io.bytestream import is_gzipped, open_bytes
from runtime.io.formats import Format, by_content, by_name
from runtime.io.read import columns_of
from runtime.io.reader import ReadRequest
from runtime.types.time_codec import DAY, UNITS

_PER_MICRO = {"milliseconds": 1_000, "microseconds": 1}


@dataclass(frozen=True)
class FileKind:
    """Files of one kind can be read together. `schema` is that of Parquet; text may be `packed`."""

    format: Format
    schema: pa.Schema | None = None
    packed: bool = False


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
    try:
        columns = columns_of(path, needs, found)
    except InputError as error:
        return UnreadableFile(error.message)
    if found is not Format.PARQUET:
        return FileKind(found, packed=path.suffix == ".gz" or is_gzipped(path))
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
