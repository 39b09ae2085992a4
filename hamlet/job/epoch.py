"""An epoch of a job, from the rows that were read to the results that are published."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hamlet.job.epoch_reader import EpochRows
from hamlet.job.span import Span
from runtime.pipeline.aggregation import EpochCommand, EpochResult
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.manifest import Manifest


@dataclass
class Epoch:
    """An epoch that aggregators compute, or that is being committed."""

    order: EpochCommand
    read: EpochRows
    bound_workload: BoundWorkload
    since: dict[str, int]
    answers: Future[list[EpochResult]] = field(default_factory=Future)
    finished: Future[EpochCommit] | None = None
    clocks: dict[str, int] = field(default_factory=dict)
    newest: int | None = None
    final: bool = False  #: the run ends after it
    began: float = 0.0

    @property
    def busy(self) -> Future[Any]:
        """The step that is under way."""
        return self.answers if self.finished is None else self.finished


@dataclass(frozen=True)
class EpochCommit:
    """An epoch that is committed and published."""

    manifest: Manifest
    answers: list[EpochResult]
    tables: dict[str, pa.Table]
    stages: dict[str, float]
    published: float  #: when, as Unix time
    spans: tuple[Span, ...] = ()
