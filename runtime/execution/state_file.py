"""Reads and writes the Arrow file of a local checkpoint.

It has one row for each piece of state: the header, the buffered events, every open window of every
partition. It contains JSON and Arrow, no pickle, and is verified before anything is loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from runtime.errors import HamletError
from runtime.language.query import Query
from runtime.types.time_codec import TimeCodec

VERSION = 4
_MARK = b"hamlet.checkpoint"
_CLOCK = "__clock__"
_SCHEMA = pa.schema(
    [
        pa.field("part", pa.string(), nullable=False),
        pa.field("query", pa.string()),
        pa.field("window", pa.int64()),
        pa.field("data", pa.large_binary(), nullable=False),
    ]
)


@dataclass(frozen=True)
class StatePart:
    """A piece of state: its kind, its query and window, and its content."""

    part: str
    data: Any
    query: str | None = None
    window: int | None = None


@dataclass(frozen=True)
class StateHeader:
    """The state of the engine as a whole. `queries` are fingerprints by name."""

    queries: dict[str, str]
    ties: str
    input: list[str | None]
    numeric: str
    watermark: int | None
    newest: int | None
    arrivals: int
    late_rows: int = 0
    null_keys: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    dead: dict[str, int] = field(default_factory=dict)


def write(parts: Iterable[StatePart]) -> bytes:
    rows = [
        {"part": p.part, "query": p.query, "window": p.window, "data": _encode(p.data)}
        for p in parts
    ]
    table = pa.Table.from_pylist(rows, _SCHEMA)
    digest = _digest(table)
    table = table.replace_schema_metadata({_MARK: str(VERSION), b"hamlet.digest": digest})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def read(data: bytes) -> list[StatePart]:
    """The parts of a checkpoint, after verifying that it is complete."""
    try:
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise HamletError(f"this is not a complete checkpoint: {error}") from None
    metadata = table.schema.metadata or {}
    if not table.schema.equals(_SCHEMA) or _MARK not in metadata:
        raise HamletError("this Arrow file is not a checkpoint")
    version = metadata[_MARK].decode()
    if version != str(VERSION):
        raise HamletError(
            f"the checkpoint has format {version}, this version reads format {VERSION}",
            "start from the beginning with another --checkpoint folder",
        )
    if metadata.get(b"hamlet.digest") != _digest(table):
        raise HamletError("the checkpoint is damaged: its digest does not match")
    return [
        StatePart(row["part"], _decode(row["data"]), row["query"], row["window"])
        for row in table.to_pylist()
    ]


def fingerprint(query: Query) -> str:
    """Equal for queries with the same meaning, whatever their position and white space."""
    return hashlib.sha256(repr(query.text).encode()).hexdigest()


def batches_to_bytes(batches: list[pa.RecordBatch], schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def columns_with_clock(columns: pa.Schema, clock: TimeCodec) -> pa.Schema:
    """The input's columns, and one more with the detected type of times in text."""
    return columns.append(pa.field(_CLOCK, clock.type)) if clock.decided else columns


def columns_and_clock(data: bytes) -> tuple[pa.Schema, pa.DataType | None]:
    columns = pa.ipc.read_schema(pa.BufferReader(data))
    place = columns.get_field_index(_CLOCK)
    if place < 0:
        return columns, None
    return columns.remove(place), columns.field(place).type


def _encode(data: Any) -> bytes:
    return data if isinstance(data, bytes) else json.dumps(data).encode()


def _decode(data: bytes) -> Any:
    """JSON starts with a bracket; everything else is Arrow."""
    return json.loads(data) if data[:1] in (b"{", b"[") else data


def _digest(table: pa.Table) -> bytes:
    digest = hashlib.sha256()
    for row in table.to_pylist():
        digest.update(repr((row["part"], row["query"], row["window"])).encode())
        digest.update(row["data"])
    return digest.hexdigest().encode()
