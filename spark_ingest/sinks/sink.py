"""The interface of sinks. A sink gets results after their epoch is committed, and publishes them.

Publishing is idempotent: it is repeated after an interruption, with the same results, in the same
sink. An epoch publishes before the next one is committed, so after a crash only the last one can be
missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runtime.pipeline.epoch_record import Results
from runtime.pipeline.field_types import check_fields
from runtime.pipeline.manifest import Manifest


@dataclass(frozen=True)
class ReplayPoint:
    """All that is needed to compute an epoch again: the position it read to, and the watermark and
    clocks after it."""

    position: dict[str, Any]
    watermark: int | None
    clocks: dict[str, int]
    last: bool = False

    @classmethod
    def of(cls, manifest: Manifest) -> ReplayPoint | None:
        """None if the epoch changed the workload: it cannot be replayed."""
        if manifest.changed:
            return None
        return cls(manifest.position, manifest.watermark, manifest.clocks, manifest.finished)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ReplayPoint:
        """Raises TypeError if it is not one."""
        point = cls(**data)
        check_fields(point)
        return point


@dataclass(frozen=True)
class PendingResults:
    """Committed results that wait to be published."""

    bytes: int
    seconds: float  #: since the first of them was computed
    final: bool  #: the run ends after this epoch


class EpochSink(ABC):
    @property
    @abstractmethod
    def address(self) -> str:
        """The options that name the sink. Only in the same sink can publishing be repeated. Empty
        if it cannot be repeated at all."""

    def folders(self, queries: Iterable[str]) -> dict[str, str]:
        """The names by which it keeps queries apart, also those of earlier queries. They are part
        of the checkpoint, and never change."""
        return {}

    def is_due(self, pending: PendingResults) -> bool:
        """Whether to publish now. If not, the results wait for those of later epochs."""
        return True

    @abstractmethod
    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        """Makes results visible, all at once: those of `epoch`, and before them those of earlier
        epochs that waited. Does nothing, or the same again, if they are visible already."""

    def recover(self, committed: int) -> ReplayPoint | None:
        """At the start, with the last committed epoch (-1: none). Raises if the sink has later
        results. Returns the replay point of the next epoch if that was already published but its
        checkpoint was lost."""
        return None

    def close(self) -> None:  # noqa: B027
        """Releases its resources."""
