"""The aggregator: a long-lived process that owns shards. All it does is in `Aggregation`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ray

from runtime.language.query import Workload
from runtime.pipeline.aggregation import Aggregation, EpochCommand, EpochResult, Unit
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.router import Portion
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.state_segments import SavedUnit

REPORT_SECONDS = 0.25


class NotInitialized(Exception):
    """The process is new, after a crash perhaps, and knows nothing yet: `begin` comes first."""


@dataclass(frozen=True)
class AggregatorSetup:
    """What an aggregator begins with, and after a crash begins with again. `taken` is the last
    committed epoch, `saved` what its shards held then."""

    settings: Settings
    input_format: InputFormat
    workload: Workload
    since: Mapping[str, int]
    shards: range
    folder: BlobStore | None
    name: str
    last_epoch: int
    saved: Mapping[Unit, SavedUnit]
    watermark: int | None


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)
class Aggregator:
    def __init__(self) -> None:
        self._optimizer: Any = None
        self._aggregation: Aggregation | None = None
        self._name = ""
        self._reported = 0.0

    def begin(self, begin: AggregatorSetup, optimizer: Any) -> int:
        """Gives the number of its process."""
        self._optimizer = optimizer
        self._name = begin.name
        self._aggregation = Aggregation(
            begin.settings,
            begin.input_format,
            begin.workload,
            begin.shards,
            begin.folder,
            since=begin.since,
            name=begin.name,
            last_epoch=begin.last_epoch,
        )
        self._aggregation.restore(begin.saved, begin.watermark)
        return os.getpid()

    def begun(self) -> bool:
        return self._aggregation is not None

    def take(self, order: EpochCommand, *blocks: list[Portion]) -> EpochResult:
        """`blocks` are the portions of the epoch's blocks, in the order in which they arrived."""
        aggregation = self._aggregation
        if aggregation is None:
            raise NotInitialized
        self._aggregation = None  # what has taken half of an epoch cannot go on
        answer = aggregation.compute_epoch(order, [p for block in blocks for p in block])
        self._aggregation = aggregation
        self._report(aggregation)
        return answer

    def _report(self, aggregation: Aggregation) -> None:
        """Not for every epoch, which may be short. Nobody waits for the optimizer: it may be
        away."""
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            seen = aggregation.take_observations()
            self._optimizer.report.remote(self._name, seen)
