"""The interface of sources: ranges that can be read, repeatedly, as Spark frames.

A range is planned and read; once its epoch is committed, the next range starts at its end. Spark's
streaming queries keep a second position, which could disagree with ours after a crash; here there
is only the one in the epoch's manifest. Streaming frames have both, in step (`streaming_frame`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame

from runtime.pipeline.event_block import Origin
from runtime.pipeline.event_contract import EventContract
from runtime.pipeline.row_numbers import SourcePart
from spark_ingest.pipeline.event_pipeline import EventPipeline

#: A JSON object that only its source interprets.
Position: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class SourceRange:
    """The range of one epoch: from `start` (exclusive) to `end`. Only the source uses `work`."""

    start: Position
    end: Position
    work: Any = None
    bytes: int = 0  #: about how much; 0 if nobody knows
    arrived: float = field(default_factory=time.time)  #: when the last of it came, as Unix time


@dataclass(frozen=True)
class SourceFrame:
    """A range as a frame of checked rows. Partition i has the rows of `origins[i]`, in order;
    `order[i]` is its rank by arrival. Without rows there is no frame."""

    frame: DataFrame | None
    contract: EventContract
    origins: Sequence[Origin] = ()
    order: Sequence[int] = ()
    #: Dead letters of files that could not be read.
    lost: list[pa.Table] = field(default_factory=list)
    #: No row of a later range has an earlier time (microseconds); None if unknown.
    floor: int | None = None
    #: The partitions of the frame to read, which count from 0 here; None for all.
    only: Sequence[int] | None = None
    #: The part of a source that the range is, if its rows are numbered when they are committed.
    part: SourcePart | None = None
    #: How many rows there are, if that is known.
    rows: int | None = None
    #: Returns rows as they were read, by source and row number; None if the frame has them.
    raw: Callable[[str, Sequence[int]], list[str]] | None = None
    #: What Spark executes for these rows, as query executions of the JVM: each takes the rows of
    #: the one before. Empty if the plan of `frame` is all.
    executions: Sequence[Any] = ()


class StreamSource(ABC):
    #: All columns of the input.
    schema: pa.Schema
    #: Whether the input ends; every window closes then.
    bounded: bool
    #: The name for messages.
    name: str
    #: The unit of `backlog`.
    counts_in: str = "bytes"

    @abstractmethod
    def first(self) -> Position:
        """The position before all rows."""

    @abstractmethod
    def next(self, position: Position, limit: int) -> SourceRange | None:
        """The range after a position, of about `limit` bytes at most; None if there are no
        rows (yet)."""

    @abstractmethod
    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        """Reads the columns of `schema` that the pipeline needs. Reading a range again returns the
        same rows."""

    @abstractmethod
    def between(self, start: Position, end: Position) -> SourceRange:
        """The range that was read between two positions, to read it again."""

    def quarantine_unreadable(self, wanted: SourceRange) -> SourceRange | None:
        """Called after Spark failed on a range. If the input is the cause, its unreadable part is
        skipped, with a dead letter, in the returned range, which may end later."""
        return None

    def check(self) -> None:  # noqa: B027
        """Called while reading takes long: reports a source that does not answer, and waits for
        it."""

    def ended(self, position: Position) -> bool:
        """Whether the input ends at a position, after `next` returned None."""
        return self.bounded

    def clock(self) -> pa.DataType | None:
        """The type of times in text; None if the column is typed."""
        return None

    def backlog(self, position: Position) -> int:
        """How many bytes (for Kafka, records) are unread after a position."""
        return 0

    def committed(self, position: Position) -> None:  # noqa: B027
        """Nothing before this position will be read again."""

    def close(self) -> None:  # noqa: B027
        """Releases its resources."""
