"""Stores a stream that cannot be read again in files: a generated stream, or one from a socket.

A thread writes the stream to numbered segments, which Spark reads as files, also again after a
crash. A segment is deleted when the epoch after its own is committed, since a user may go back by
one epoch. When too many segments wait, the thread waits too, and so does the sender.

A segment never replaces another one. A run that was paused while another took over may still write:
what it received then becomes a segment of its own, and is read like the rest.

Each segment has a second copy (`segment_files.py`), and is checked before Spark reads it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark.sql import SparkSession

from runtime.io.reader import ReadRequest
from runtime.io.row_groups import span
from runtime.pipeline.blob_store import CorruptCheckpoint
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.files import FileSource, InputFile
from spark_ingest.sources.segment_files import DamagedSegment, SegmentFiles, without_checksum
from spark_ingest.sources.source import Position, SourceFrame, SourceRange

MOST_WAITING = 32
POLL_SECONDS = 0.01


class Feed(Protocol):
    """Yields segments. `suffix` is that of the files; if `ordered`, times never decrease; if
    `repeatable`, segment n always has the same content."""

    name: str
    suffix: str
    ordered: bool
    repeatable: bool

    def segments(self, done: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
        """The contents of segments, after the first `done`. A generated stream repeats them
        exactly; a socket continues with new data."""


class SegmentSource(FileSource):
    def __init__(
        self,
        spark: SparkSession,
        feed: Feed,
        folder: Path,
        needs: ReadRequest,
        *,
        bounded: bool,
        schema: pa.Schema | None = None,
        unit: str | None = None,
        start: int = 0,
        owner: str = "",
        warn: Callable[[str], None] = lambda what: None,
    ) -> None:
        """`start` is how many segments were committed in an earlier run; `owner` is this one."""
        self._feed = feed
        self._segments = SegmentFiles(folder, feed.suffix, owner, warn)
        self._segments.tidy()
        self._segments.repair()
        self._error: BaseException | None = None
        self._committed = start
        self._stop = threading.Event()
        before = self._segments.numbers()
        self._written = max([start, *before])
        self._thread = threading.Thread(target=self._write, name="feed", daemon=True)
        self._thread.start()
        if schema is None:  # it is read from what is there
            self._await_first()
            for number in before:
                self._intact(number)
        super().__init__(spark, folder, needs, bounded=bounded, schema=schema, unit=unit, warn=warn)
        self.name = feed.name

    def first(self) -> Position:
        return {"segment": 0}

    def next(self, position: Position, limit: int) -> SourceRange | None:
        self._raise()
        last, size = position["segment"], 0
        taken: list[InputFile] = []
        for number in range(last + 1, self._written + 1):
            file = InputFile.of(self._present(number))
            size += file.size
            if taken and size > limit:
                break
            taken.append(file)
        if not taken:
            return None
        end = {"segment": last + len(taken)}
        return SourceRange(position, end, taken, *self._about(taken))

    def between(self, start: Position, end: Position) -> SourceRange:
        files = [InputFile.of(self._present(number)) for number in _numbers(start, end)]
        return SourceRange(start, end, files, *self._about(files))

    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        """Only intact segments. Restored ones arrived when the damaged ones did."""
        paths = map(self._intact, _numbers(wanted.start, wanted.end))
        files = [
            replace(InputFile.of(path), arrived=file.arrived)
            for path, file in zip(paths, wanted.work, strict=True)
        ]
        return super().read(replace(wanted, work=files), pipeline)

    def quarantine_unreadable(self, wanted: SourceRange) -> SourceRange | None:
        """A segment that was damaged after its check is restored, not skipped."""
        before = self._segments.restored
        for number in _numbers(wanted.start, wanted.end):
            self._intact(number)
        if self._segments.restored > before:
            return wanted
        return super().quarantine_unreadable(wanted)

    def ended(self, position: Position) -> bool:
        self._raise()
        return not self._thread.is_alive() and position["segment"] == self._written

    def backlog(self, position: Position) -> int:
        total = 0
        for number, path in self._segments.plain().items():
            if number > position["segment"]:
                with suppress(FileNotFoundError):
                    total += path.stat().st_size
        return total

    def committed(self, position: Position) -> None:
        for number in self._segments.numbers():
            if number <= self._committed:
                self._segments.delete(number)
        self._committed = position["segment"]

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _listed(self) -> list[str]:
        return sorted(path.name for path in self._segments.plain().values())

    def _shown(self, path: str) -> str:
        return without_checksum(path)

    def _present(self, number: int) -> Path:
        """The file of a segment, whatever is in it."""
        return self._segments.plain().get(number) or self._intact(number)

    def _intact(self, number: int) -> Path:
        try:
            return self._segments.intact(number)
        except DamagedSegment:
            content = self._made_again(number)
            if content is None:
                raise
            return self._segments.replace(number, content)

    def _made_again(self, number: int) -> bytes | None:
        """The content of a segment of a generated stream, once more."""
        if not self._feed.repeatable:
            return None
        return next(self._feed.segments(number - 1, self._stop.is_set), None)

    def _floor(self, wanted: SourceRange) -> int | None:
        """If times never decrease, the last time that was read."""
        if not self._feed.ordered:
            return None
        known = span(Path(wanted.work[-1].path), self._needs.time_column, self._unit)
        return None if known is None else known[1]

    # ---- the thread ------------------------------------------------------------------------

    def _write(self) -> None:
        try:
            for content in self._feed.segments(self._written, self._stop.is_set):
                while self._written - self._committed >= MOST_WAITING and not self._stop.is_set():
                    time.sleep(POLL_SECONDS)
                if self._stop.is_set():
                    return
                self._store(content)
        except BaseException as error:
            self._error = error

    def _store(self, content: bytes) -> None:
        """Stores a segment under the next free number."""
        stored = False
        while not stored:
            new = self._segments.create(self._written + 1, content)
            stored = new or self._feed.repeatable
            self._written += 1

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _await_first(self) -> None:
        while not self._written and self._thread.is_alive():
            time.sleep(POLL_SECONDS)
        self._raise()


def _numbers(start: Position, end: Position) -> range:
    """Of the segments between two positions."""
    return range(segment_of(start) + 1, segment_of(end) + 1)


def segment_of(position: Position) -> int:
    """The last segment before a position."""
    number = position.get("segment")
    if type(number) is not int or number < 0:
        raise CorruptCheckpoint(f"{position} is not a position in a stream of segments")
    return number
