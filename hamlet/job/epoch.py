"""An epoch of a job, from the rows that were read to the results that are published."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hamlet.job.epoch_reader import Read
from hamlet.job.span import Span
from runtime.pipeline.aggregation import Answer, Order
from runtime.pipeline.bound_workload import Intake
from runtime.pipeline.manifest import Manifest


@dataclass
class Epoch:
    """An epoch that aggregators compute, or that is being committed."""

    order: Order
    read: Read
    intake: Intake
    since: dict[str, int]
    answers: Future[list[Answer]] = field(default_factory=Future)
    finished: Future[Finished] | None = None
    clocks: dict[str, int] = field(default_factory=dict)
    newest: int | None = None
    began: float = 0.0

    @property
    def busy(self) -> Future[Any]:
        """The step that is under way."""
        return self.answers if self.finished is None else self.finished


@dataclass(frozen=True)
class Finished:
    """An epoch that is committed and published."""

    manifest: Manifest
    answers: list[Answer]
    tables: dict[str, pa.Table]
    stages: dict[str, float]
    published: float  #: when, as Unix time
    spans: tuple[Span, ...] = ()
