"""Stores a stream that cannot be read again in files: a generated stream, or one from a socket.

A thread writes the stream to numbered segments, which Spark reads as files, also again after a
crash. A segment is deleted when the epoch after its own is committed, since a job may go back by
one epoch. When too many segments wait, the thread waits too, and so does the sender.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark.sql import SparkSession

from runtime.io.atomic import AtomicFiles
from runtime.io.file_probe import span
from runtime.io.reader import ReadRequest
from spark_ingest.sources.files import FileSource, InputFile
from spark_ingest.sources.source import Position, SourceRange

MOST_WAITING = 32
POLL_SECONDS = 0.01


class Feed(Protocol):
    """Yields segments. `suffix` is that of the files; if `ordered`, times never decrease."""

    name: str
    suffix: str
    ordered: bool

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
    ) -> None:
        """`start` is how many segments were committed in an earlier run."""
        folder.mkdir(parents=True, exist_ok=True)
        self._feed = feed
        self._folder = folder
        self._error: BaseException | None = None
        self._committed = start
        self._stop = threading.Event()
        for file in folder.iterdir():
            if not _number(file):  # incomplete: an earlier run was killed
                file.unlink()
        written = max([start, *map(_number, folder.glob(f"*{feed.suffix}"))])
        self._written = written
        self._thread = threading.Thread(target=self._write, name="feed", daemon=True)
        self._thread.start()
        if schema is None:
            self._await_first()
        super().__init__(spark, folder, needs, bounded=bounded, schema=schema, unit=unit)
        self.name = feed.name

    def first(self) -> Position:
        return {"segment": 0}

    def next(self, position: Position, limit: int) -> SourceRange | None:
        self._raise()
        last, size = position["segment"], 0
        taken: list[InputFile] = []
        for number in range(last + 1, self._written + 1):
            file = InputFile.of(self._folder / _name(number, self._feed.suffix))
            size += file.size
            if taken and size > limit:
                break
            taken.append(file)
        if not taken:
            return None
        end = {"segment": last + len(taken)}
        return SourceRange(position, end, taken, *self._about(taken))

    def between(self, start: Position, end: Position) -> SourceRange:
        numbers = range(start["segment"] + 1, end["segment"] + 1)
        return self._again(start, end, [_name(each, self._feed.suffix) for each in numbers])

    def ended(self, position: Position) -> bool:
        self._raise()
        return not self._thread.is_alive() and position["segment"] == self._written

    def backlog(self, position: Position) -> int:
        waiting = range(position["segment"] + 1, self._written + 1)
        files = [self._folder / _name(number, self._feed.suffix) for number in waiting]
        return sum(file.stat().st_size for file in files)

    def committed(self, position: Position) -> None:
        for file in self._folder.glob(f"*{self._feed.suffix}"):
            if 0 < _number(file) <= self._committed:
                file.unlink(missing_ok=True)
        self._committed = position["segment"]

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _listed(self) -> list[str]:
        return sorted(path.name for path in self._folder.glob(f"*{self._feed.suffix}"))

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
                files = AtomicFiles()
                with files.open(self._folder / _name(self._written + 1, self._feed.suffix)) as file:
                    file.write(content)
                files.publish()
                self._written += 1
        except BaseException as error:
            self._error = error

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _await_first(self) -> None:
        while not self._written and self._thread.is_alive():
            time.sleep(POLL_SECONDS)
        self._raise()


def _name(number: int, suffix: str) -> str:
    return f"{number:09d}{suffix}"


def _number(path: Path) -> int:
    head = path.name.partition(".")[0]
    return int(head) if head.isdigit() else 0
