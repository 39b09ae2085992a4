"""The aggregator actor: a long-lived process that owns shards. `Aggregation` does the work."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ray

from runtime.language.query import Workload
from runtime.pipeline.aggregation import Aggregation, EpochCommand, EpochResult, Unit
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.router import Portion
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.state_segments import SavedUnit

REPORT_SECONDS = 0.25


class NotInitialized(Exception):
    """The process is new, perhaps after a crash, and has no state: call `start` first."""


@dataclass(frozen=True)
class AggregatorSetup:
    """The initial state of an aggregator, also after a crash. `last_epoch` is the last committed
    epoch, `saved` the state of its shards then, `files_name` is in the names of its files."""

    settings: Settings
    input_format: InputFormat
    workload: Workload
    since: Mapping[str, int]
    shards: range
    files: CheckpointFiles | None
    name: str
    files_name: str
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

    def start(self, setup: AggregatorSetup, optimizer: Any) -> str:
        """Restores the shards. Returns Ray's id of the machine."""
        self._optimizer = optimizer
        self._name = setup.name
        self._aggregation = Aggregation(
            setup.settings,
            setup.input_format,
            setup.workload,
            setup.shards,
            setup.files,
            since=setup.since,
            name=setup.files_name,
            last_epoch=setup.last_epoch,
        )
        self._aggregation.restore(setup.saved, setup.watermark)
        node: str = ray.get_runtime_context().get_node_id()
        return node

    def is_initialized(self) -> bool:
        return self._aggregation is not None

    def compute_epoch(self, command: EpochCommand, *blocks: list[Portion]) -> EpochResult:
        """`blocks` are the portions of the epoch's blocks, in the order of arrival."""
        aggregation = self._aggregation
        if aggregation is None:
            raise NotInitialized
        self._aggregation = None  # after an error in an epoch its state is unusable
        result = aggregation.compute_epoch(command, [p for block in blocks for p in block])
        self._aggregation = aggregation
        self._report(aggregation)
        return result

    def _report(self, aggregation: Aggregation) -> None:
        """Reports observations at intervals, since epochs may be short. Does not wait for the
        optimizer, which may be down."""
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            observations = aggregation.take_observations()
            self._optimizer.report.remote(self._name, observations)
