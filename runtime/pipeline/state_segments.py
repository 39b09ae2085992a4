"""State in pieces: what one owner saves of an epoch is one file, in which each of its shards has
a piece. A piece is a snapshot of all that the shard holds, or the log of the events that it took
in the epoch. A shard is restored from its last snapshot and the logs since."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from runtime.errors import HamletError
from runtime.pipeline.blob_store import Folder


class Damaged(HamletError):
    """A file of a checkpoint is not what was written."""


@dataclass(frozen=True)
class Piece:
    """Where a piece lies, and how it is checked. `watermark` is that after the epoch; while there
    was none, events were spooled."""

    file: str
    offset: int
    length: int
    check: int
    watermark: int | None = None

    def read(self, folder: Folder) -> pa.Buffer:
        try:
            data = folder.read(self.file, self.offset, self.length)
        except FileNotFoundError:
            raise Damaged(f"{self.file} is missing") from None
        if data.size != self.length or zlib.crc32(data) != self.check:
            raise Damaged(f"{self.file} is damaged")
        return data

    def to_json(self) -> list[Any]:
        """In the order of the fields."""
        return [self.file, self.offset, self.length, self.check, self.watermark]


@dataclass(frozen=True)
class Saved:
    """All that restores one shard."""

    snapshot: Piece | None = None
    log: tuple[Piece, ...] = ()

    @property
    def files(self) -> set[str]:
        pieces = (self.snapshot, *self.log)
        return {piece.file for piece in pieces if piece is not None}

    @property
    def log_bytes(self) -> int:
        return sum(piece.length for piece in self.log)

    @property
    def bytes(self) -> int:
        return self.log_bytes + (0 if self.snapshot is None else self.snapshot.length)

    def logged(self, piece: Piece) -> Saved:
        return replace(self, log=(*self.log, piece))

    def to_json(self) -> dict[str, Any]:
        snapshot = None if self.snapshot is None else self.snapshot.to_json()
        return {"snapshot": snapshot, "log": [piece.to_json() for piece in self.log]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Saved:
        snapshot = None if data["snapshot"] is None else Piece(*data["snapshot"])
        return cls(snapshot, tuple(Piece(*each) for each in data["log"]))


class PieceWriter:
    """Gathers the pieces of one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[pa.Buffer] = []
        self._size = 0

    def add(self, data: pa.Buffer, watermark: int | None) -> Piece:
        piece = Piece(self._name, self._size, data.size, zlib.crc32(data), watermark)
        self._parts.append(data)
        self._size += data.size
        return piece

    def write(self, folder: Folder) -> int:
        """Gives the number of bytes; without any there is no file."""
        return folder.write(self._name, *self._parts) if self._parts else 0


def log_of(batches: Sequence[pa.RecordBatch]) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def events_of(log: pa.Buffer) -> Iterator[pa.RecordBatch]:
    yield from pa.ipc.open_stream(log)
