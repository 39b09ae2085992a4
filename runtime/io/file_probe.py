"""Inspects files before they are read: their format and columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pt

from runtime.errors import InputError
from runtime.io.bytestream import is_packed, open_bytes
from runtime.io.csv_header import header_of
from runtime.io.formats import Format, by_content, by_name
from runtime.io.read import columns_of
from runtime.io.reader import ReadRequest

# Spark holds a file that it reads in one piece several times in an executor's memory.
MOST_WHOLE = 128 << 20


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


def _by_content(path: Path) -> Format:
    stream, head = open_bytes(path)
    stream.close()
    return by_content(head)
