"""What a driver is given: the parts of the job, and the point from which it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from actors.actor_pool import ActorPool
from hamlet.job.epoch_reader import EpochReader
from hamlet.job.epoch_report import EpochListener
from hamlet.job.metrics_recorder import JobMetrics
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest
from runtime.pipeline.routing_table import RoutingTable
from runtime.pipeline.settings import Settings
from spark_ingest.sinks.sink import EpochSink, ReplayPoint
from spark_ingest.sources.source import StreamSource


@dataclass(frozen=True)
class JobContext:
    """The parts of a job. They stay the same while it runs."""

    source: StreamSource
    sink: EpochSink
    pool: ActorPool
    reader: EpochReader
    checkpoints: CheckpointStore
    recorder: JobMetrics
    watcher: EpochListener
    settings: Settings
    shards: int
    lateness: int  #: in microseconds
    given: Mapping[str, str]  #: fingerprints of the queries that the user gave, by name
    #: Raises an error if a process has died that nothing restarts.
    check_processes: Callable[[], None] = lambda: None

    def routing(self, bound_workload: BoundWorkload) -> RoutingTable:
        return bound_workload.routing(self.shards, self.pool.size)


@dataclass(frozen=True)
class StartPoint:
    """Where a job starts: at the beginning of its input, or at the epoch of a manifest."""

    bound_workload: BoundWorkload  #: has the workload of the manifest, if there is one
    manifest: Manifest | None = None
    change: WorkloadChange | None = None  #: queries that came or went since the manifest
    #: The next epoch is published already but not committed: it must be repeated exactly.
    replay: ReplayPoint | None = None
