"""What every sink is: results are staged, the epoch is committed, then they are published.

Publishing may be interrupted and is then done again, so it must not matter how often it is done.
An epoch is published before the next one is committed: after a crash only the last one can be
missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

#: Names of tables beside those of queries.
DEAD_LETTER = "_dead_letter"
LATE = "_late"


@dataclass(frozen=True)
class ReplayPoint:
    """What makes an epoch give the same results once more: up to where it read, and the time after
    it, of all and by the source's partitions."""

    position: dict[str, Any]
    watermark: int | None
    clocks: dict[str, int]
    last: bool = False


class EpochSink(ABC):
    @abstractmethod
    def stage(
        self, epoch: int, tables: Mapping[str, pa.Table], turn: ReplayPoint | None = None
    ) -> None:
        """Keeps the tables (by query, and DEAD_LETTER and LATE) where a crash does not reach
        them, and where no reader takes them for results. Replaces what was staged before under
        this epoch."""

    @abstractmethod
    def publish(self, epoch: int) -> None:
        """Makes what was staged visible, all at once; nothing if that has been done."""

    @abstractmethod
    def recover(self, committed: int) -> ReplayPoint | None:
        """At the start: publishes the last committed epoch (-1: none) if that is missing, and
        drops what was staged for later ones. Where the next epoch is out already and cannot be
        taken back, since its checkpoint was lost, gives what it must be once more."""

    def close(self) -> None:  # noqa: B027
        """Lets go of what it holds."""
