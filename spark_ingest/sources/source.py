"""What every source is: ranges that can be read, and read again, as Spark frames.

A range is planned, read, and once its epoch is committed its end is the position to go on from.
Spark's own streaming queries would keep that position beside ours, and the two can disagree after
a crash; here there is one, in the epoch's manifest.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame

from runtime.io.decode import Decoder, Origin

#: What JSON can hold. Belongs to the source that made it.
Position: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class SourceRange:
    """What one epoch reads: from `start` (exclusive) to `end`. `work` is the source's own."""

    start: Position
    end: Position
    work: Any = None
    bytes: int = 0  #: about how much; 0 if nobody knows
    arrived: float = field(default_factory=time.time)  #: when the last of it came, as Unix time


@dataclass(frozen=True)
class SourceFrame:
    """A range as a frame. Partition i of the frame has the rows of `origins[i]`, in order;
    `order[i]` is its place among all, by arrival. No frame: there are no rows."""

    frame: DataFrame | None
    decoder: Decoder
    origins: Sequence[Origin]
    order: Sequence[int]
    #: Dead letters of what could not be read at all.
    lost: list[pa.Table] = field(default_factory=list)
    #: No row of a later range has an earlier time (microseconds); None if nobody knows.
    floor: int | None = None
    #: Rows of a source, by its name and theirs, as they were; None if the frame has all of them.
    raw: Callable[[str, Sequence[int]], list[str]] | None = None


class StreamSource(ABC):
    #: All columns, as the workload sees them.
    schema: pa.Schema
    #: Whether there is an end, at which every window closes.
    bounded: bool
    #: What a person knows it by.
    name: str
    #: What `backlog` counts.
    counts_in: str = "bytes"

    @abstractmethod
    def first(self) -> Position:
        """Before everything."""

    @abstractmethod
    def next(self, position: Position, limit: int) -> SourceRange | None:
        """The range after a position, of about `limit` bytes at most; None if nothing is there
        (yet)."""

    @abstractmethod
    def read(self, wanted: SourceRange, columns: Sequence[str]) -> SourceFrame:
        """Only these columns of `schema` are needed. May be called again for the same range, and
        then reads the same."""

    @abstractmethod
    def between(self, start: Position, end: Position) -> SourceRange:
        """The range that was read from one position to the other, once more."""

    def quarantine_unreadable(self, wanted: SourceRange) -> bool:
        """After Spark has failed on a range: whether that is due to what is read. Then it is left
        out from now on, with a dead letter."""
        return False

    def check(self) -> None:  # noqa: B027
        """While a range is read that takes long: says if nobody answers, and waits until someone
        does."""

    def ended(self, position: Position) -> bool:
        """Whether nothing comes after a position, now that `next` has found nothing."""
        return self.bounded

    def clock(self) -> pa.DataType | None:
        """What times in text turn out to be; None where their column says what they are."""
        return None

    def backlog(self, position: Position) -> int:
        """How many bytes (or, for Kafka, records) wait behind a position."""
        return 0

    def committed(self, position: Position) -> None:  # noqa: B027
        """Nothing before this position is asked for again."""

    def close(self) -> None:  # noqa: B027
        """Lets go of what it holds."""
