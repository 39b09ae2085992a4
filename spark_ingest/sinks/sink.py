"""The interface of sinks: stage results, commit the epoch, then publish them.

Publishing is idempotent: it is repeated after an interruption. An epoch is published before the
next one is committed, so after a crash only the last one can be missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

#: Names of tables besides those of queries.
DEAD_LETTER = "_dead_letter"
LATE = "_late"


@dataclass(frozen=True)
class ReplayPoint:
    """All that is needed to compute an epoch again: the position it read to, and the watermark and
    clocks after it."""

    position: dict[str, Any]
    watermark: int | None
    clocks: dict[str, int]
    last: bool = False


class EpochSink(ABC):
    @abstractmethod
    def stage(
        self, epoch: int, tables: Mapping[str, pa.Table], turn: ReplayPoint | None = None
    ) -> None:
        """Saves the tables (by query, and DEAD_LETTER and LATE): they survive a crash, but readers
        do not see them. Replaces earlier staged tables of this epoch."""

    @abstractmethod
    def publish(self, epoch: int) -> None:
        """Makes the staged tables visible, all at once. Does nothing if they are already."""

    @abstractmethod
    def recover(self, committed: int) -> ReplayPoint | None:
        """At the start: publishes the last committed epoch (-1: none) if it is missing, and drops
        staged tables of later epochs. Returns the replay point of the next epoch if that was
        already published but its checkpoint was lost."""

    def close(self) -> None:  # noqa: B027
        """Releases its resources."""
