"""Reads the columns of a data file from its first bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pyarrow.types as pt

from runtime.errors import InputError
from runtime.types.attribute_kinds import is_text

Columns = dict[str, pa.DataType | None]

_BEGINNING = 1 << 20


def columns_of(path: Path) -> Columns:
    """The columns with their types; None if the type of a text column is open."""
    name = path.name.lower().removesuffix(".gz")
    read = _READERS.get(name[name.rfind(".") :] if "." in name else "")
    if read is None:
        known = ", ".join(sorted(_READERS))
        raise InputError(f"{path} is not a schema: unknown suffix", f"use .yaml or {known}")
    try:
        return read(path)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"cannot read the columns of {path}: {_reason(error)}") from error


def check_unique_names(names: Sequence[str], source: str) -> None:
    """Rejects duplicate column names: a query could mean either."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{source} has more than one column `{twice}`", "rename one of them")


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _parquet(path: Path) -> Columns:
    return _typed(pa.parquet.read_schema(path), path)


def _ipc(path: Path) -> Columns:
    with pa.OSFile(str(path)) as file:
        magic = file.read(6)
        file.seek(0)
        reader = pa.ipc.open_file(file) if magic == b"ARROW1" else pa.ipc.open_stream(file)
        return _typed(reader.schema, path)


def _typed(schema: pa.Schema, path: Path) -> Columns:
    check_unique_names(schema.names, str(path))
    return {field.name: field.type for field in schema}


def _csv(path: Path) -> Columns:
    skip = pa.csv.ParseOptions(invalid_row_handler=lambda row: "skip")
    options = pa.csv.ReadOptions(use_threads=False)
    table = pa.csv.read_csv(pa.BufferReader(_first_lines(path)), options, skip)
    check_unique_names(table.schema.names, str(path))
    # `007` may be a number or text, depending on its use; `abc` is text.
    return {f.name: f.type if is_text(f.type) else None for f in table.schema}


def _json(path: Path) -> Columns:
    lines = _first_lines(path)
    if not lines.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):  # Arrow crashes on a first null
        raise InputError(f"{path} is not JSON lines", "one JSON object per line is expected")
    schema = pa.json.read_json(pa.BufferReader(lines)).schema
    return {f.name: pa.string() if pt.is_timestamp(f.type) else f.type for f in schema}


def _first_lines(path: Path) -> bytes:
    with pa.input_stream(str(path)) as stream:
        beginning: bytes = stream.read(_BEGINNING)
    whole = beginning.rfind(b"\n") + 1 if len(beginning) == _BEGINNING else 0
    return beginning[:whole] if whole else beginning


_READERS: dict[str, Callable[[Path], Columns]] = {
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".arrow", ".ipc", ".feather"), _ipc),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _json),
    ".csv": _csv,
}
