"""Writes and reads the state files of an owner: one file per epoch, one segment per shard.

A segment is a snapshot of the whole state of a shard, or the log of the events of an epoch. A shard
is restored from its last snapshot and the logs after it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.field_types import check_fields


@dataclass(frozen=True)
class Segment:
    """The location of a segment and its checksum. `watermark` is the one after the epoch; None if
    events were spooled."""

    file: str
    offset: int
    length: int
    check: int
    watermark: int | None = None

    def read(self, files: CheckpointFiles) -> pa.Buffer:
        return files.read_range(self.file, self.offset, self.length, self.check)

    def to_json(self) -> list[Any]:
        """The fields as a list."""
        return [self.file, self.offset, self.length, self.check, self.watermark]

    @classmethod
    def from_json(cls, data: list[Any]) -> Segment:
        segment = cls(*data)
        check_fields(segment)
        return segment


@dataclass(frozen=True)
class SavedUnit:
    """The segments that restore one shard."""

    snapshot: Segment | None = None
    log: tuple[Segment, ...] = ()

    @property
    def files(self) -> set[str]:
        segments = (self.snapshot, *self.log)
        return {segment.file for segment in segments if segment is not None}

    @property
    def log_bytes(self) -> int:
        return sum(segment.length for segment in self.log)

    @property
    def bytes(self) -> int:
        return self.log_bytes + (0 if self.snapshot is None else self.snapshot.length)

    def with_log(self, segment: Segment) -> SavedUnit:
        return replace(self, log=(*self.log, segment))

    def to_json(self) -> dict[str, Any]:
        snapshot = None if self.snapshot is None else self.snapshot.to_json()
        return {"snapshot": snapshot, "log": [segment.to_json() for segment in self.log]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SavedUnit:
        snapshot = None if data["snapshot"] is None else Segment.from_json(data["snapshot"])
        return cls(snapshot, tuple(map(Segment.from_json, data["log"])))


class SegmentWriter:
    """Collects the segments of one file."""

    def __init__(self, name: str, epoch: int) -> None:
        self._name = name
        self._epoch = epoch
        self._parts: list[pa.Buffer] = []
        self._size = 0

    def add(self, data: pa.Buffer, watermark: int | None) -> Segment:
        segment = Segment(self._name, self._size, data.size, zlib.crc32(data), watermark)
        self._parts.append(data)
        self._size += data.size
        return segment

    def write(self, files: CheckpointFiles) -> int:
        """Returns the number of bytes; without segments there is no file."""
        return files.write(self._name, self._epoch, *self._parts) if self._parts else 0


def log_of(batches: Sequence[pa.RecordBatch]) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def events_of(log: pa.Buffer) -> Iterator[pa.RecordBatch]:
    yield from pa.ipc.open_stream(log)
