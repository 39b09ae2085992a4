"""Runs a job on Ray and Spark: checks what it is given, opens its parts, drives it to its end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark.sql import SparkSession

from actors.actor_pool import ActorPool
from actors.cluster import Cluster
from hamlet.job import job_registry
from hamlet.job.cluster_setup import start_cluster
from hamlet.job.control_server import ControlServer
from hamlet.job.driver import Driver
from hamlet.job.epoch_reader import EpochReader
from hamlet.job.epoch_report import EpochListener
from hamlet.job.input_resolver import ResolvedInput
from hamlet.job.job_context import JobContext, StartPoint
from hamlet.job.job_monitoring import JobMonitoring, open_monitoring
from hamlet.job.job_options import JobOptions
from hamlet.job.job_registry import Job
from hamlet.job.manifest_check import (
    check_equal,
    check_options,
    fingerprints,
    merged_schema,
    workload_change,
)
from hamlet.job.recovery import RetriesExhausted
from hamlet.job.workload_changes import WorkloadChanges
from hamlet.job.workload_watcher import WorkloadWatcher
from runtime.errors import HamletError
from runtime.language.query import Workload
from runtime.metrics.http_server import check_port
from runtime.optimizer.model_report import ModelMetrics
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.routing_table import InputFormat
from runtime.plan.decisions import Decisions
from spark_ingest import session
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.jars import kafka_jars
from spark_ingest.sinks.sink import EpochSink
from spark_ingest.sources.source import StreamSource

# Shards for each aggregator: a resumed job can have this many times more aggregators.
SHARDS_EACH = 4
ROUTERS = 2


class Screen(EpochListener, Protocol):
    """Shows the user what happens, from the start of the job to its end."""

    def stage(self, what: str) -> None:
        """What is being started; empty when all is."""

    def warn(self, what: str) -> None: ...

    def say(self, what: str) -> None: ...

    def serves(self, url: str) -> None:
        """The address of the live page."""


MakeSink = Callable[[CheckpointStore, BoundWorkload], EpochSink]


@dataclass
class JobOutcome:
    counts: RunCounts
    decisions: list[Decisions]
    bound_workload: BoundWorkload
    finished: bool  #: the input has ended; if not, the job was stopped
    skipped: list[str] = field(default_factory=list)
    earlier: int = 0  #: events that were counted before this run
    model: ModelMetrics = field(default_factory=ModelMetrics)


@dataclass(frozen=True)
class SavedState:
    """The checkpoint of a job, and a folder for temporary files of this run."""

    temporary: Path
    checkpoints: CheckpointStore
    manifest: Manifest | None


@dataclass(frozen=True)
class JobProcesses:
    """The processes of a job on its cluster."""

    cluster: Cluster
    pool: ActorPool
    spark: SparkSession


def run(
    workload: Workload,
    options: JobOptions,
    input: ResolvedInput,
    make_sink: MakeSink,
    screen: Screen,
    stopping: Callable[[], bool],
    done: Callable[[JobOutcome], None],
    started: Callable[[], None] = lambda: None,
) -> JobOutcome:
    """Calls `started` before the first epoch and `done` after the last one, while all parts of the
    job are still open."""
    with ExitStack() as stack:
        setup = JobSetup(stack, workload, options, input, screen)
        setup.register()
        saved = setup.open_checkpoint()
        schema = setup.check(saved)
        processes = setup.start_processes()
        source = setup.open_input(processes.spark, saved, schema)
        bound_workload, change = setup.bind_workload(source, saved)
        sink = setup.open_sink(make_sink, saved, bound_workload, change)
        replay = sink.recover(-1 if saved.manifest is None else saved.manifest.epoch)
        monitoring = setup.open_monitoring(bound_workload, saved)
        changes = setup.accept_changes(processes.cluster, monitoring)
        driver = Driver(
            setup.context(saved, processes, source, sink, monitoring),
            StartPoint(bound_workload, saved.manifest, change, replay),
            changes,
            stopping,
        )
        monitoring.recorder.show()
        screen.stage("")
        started()
        _drive(driver, processes.cluster, screen)
        outcome = _outcome(driver, source, saved)
        done(outcome)
        return outcome


def _drive(driver: Driver, cluster: Cluster, screen: Screen) -> None:
    try:
        driver.run()
    except Exception as error:
        if isinstance(error, RetriesExhausted) or not isinstance(error, HamletError):
            screen.warn(f"the logs of Ray and Spark are in {cluster.logs}")
        raise


def _outcome(driver: Driver, source: StreamSource, saved: SavedState) -> JobOutcome:
    return JobOutcome(
        driver.counts,
        driver.recorder.decisions,
        driver.bound_workload,
        driver.finished,
        list(getattr(source, "skipped", ())),
        0 if saved.manifest is None else saved.manifest.counts.events,
        driver.recorder.facts.model,
    )


class JobSetup:
    """The stages in which a job is opened. Whatever a stage opens, `stack` closes."""

    def __init__(
        self,
        stack: ExitStack,
        workload: Workload,
        options: JobOptions,
        input: ResolvedInput,
        screen: Screen,
    ) -> None:
        self._stack, self._screen = stack, screen
        self._workload, self._options, self._input = workload, options, input
        self._follow = input.options.follow

    def register(self) -> None:
        """Only a job without an end can be found by other commands."""
        if self._follow:
            job = Job(self._options.name, os.getpid())
            self._stack.enter_context(job_registry.registered(job))

    def open_checkpoint(self) -> SavedState:
        made = tempfile.TemporaryDirectory(prefix="hamlet-job-")
        temporary = Path(self._stack.enter_context(made))
        kept = self._options.checkpoint
        checkpoints = CheckpointStore(
            BlobStore(kept or str(temporary / "checkpoint"), kept is not None)
        )
        return SavedState(temporary, checkpoints, checkpoints.open(self._screen.warn))

    def check(self, saved: SavedState) -> pa.Schema | None:
        """Finds errors before anything is started. Returns the columns, if they are known."""
        options, manifest = self._options, saved.manifest
        schema = merged_schema(manifest, self._input.probe_schema(saved.temporary))
        if schema is not None:
            # A job whose query file is watched starts with the queries of its checkpoint.
            watched = manifest is not None and options.watch is not None
            workload = manifest.workload if manifest and watched else self._workload
            BoundWorkload(workload, self._input_format(schema, None), options.settings.numeric)
        if manifest is not None:
            check_options(manifest, options, self._input.options)
            workload_change(manifest, self._workload, options)
        if options.metrics_port and options.address is None:
            check_port(options.metrics_port, options.metrics_host)
        return schema

    def start_processes(self) -> JobProcesses:
        options, screen = self._options, self._screen
        screen.stage("starting Ray")
        cluster = start_cluster(self._stack, options, screen.stage, screen.say)
        pool = ActorPool(options.actors, min(options.actors, ROUTERS))
        self._stack.callback(pool.close)
        screen.stage("starting Spark")
        jars = kafka_jars() if self._input.jars else []
        return JobProcesses(cluster, pool, session.start(cluster, options.size, jars=jars))

    def open_input(
        self, spark: SparkSession, saved: SavedState, schema: pa.Schema | None
    ) -> StreamSource:
        self._screen.stage("opening the input")
        position = None if saved.manifest is None else saved.manifest.position
        source = self._input.open(spark, self._local_folder(saved), schema, position)
        self._stack.callback(source.close)
        return source

    def bind_workload(
        self, source: StreamSource, saved: SavedState
    ) -> tuple[BoundWorkload, WorkloadChange | None]:
        """The queries that aggregators start with, and what changed since the checkpoint."""
        numeric, manifest = self._options.settings.numeric, saved.manifest
        if manifest is None:
            input_format = self._input_format(source.schema, source.clock())
            return BoundWorkload(self._workload, input_format, numeric), None
        check_equal("--input", manifest.source, source.name)
        input_format = self._input_format(source.schema, manifest.input_format.clock)
        change = workload_change(manifest, self._workload, self._options)
        return BoundWorkload(manifest.workload, input_format, numeric), change

    def open_sink(
        self,
        make_sink: MakeSink,
        saved: SavedState,
        bound_workload: BoundWorkload,
        change: WorkloadChange | None,
    ) -> EpochSink:
        after = (
            bound_workload
            if change is None
            else bound_workload.with_changes(change.added, change.removed)
        )
        sink = make_sink(saved.checkpoints, after)
        self._stack.callback(sink.close)
        return sink

    def open_monitoring(self, bound_workload: BoundWorkload, saved: SavedState) -> JobMonitoring:
        monitoring = open_monitoring(
            self._stack,
            self._options,
            bound_workload,
            follow=self._follow,
            resumed=saved.manifest is not None,
            warn=self._screen.warn,
        )
        if monitoring.hub is not None:
            self._screen.serves(monitoring.url)
        return monitoring

    def accept_changes(self, cluster: Cluster, monitoring: JobMonitoring) -> WorkloadChanges | None:
        """From now on other commands can add and remove queries."""
        if not self._follow:
            return None
        name, watch = self._options.name, self._options.watch
        server = ControlServer(name, watch)
        self._stack.callback(server.close)
        token = os.environ.get("RAY_AUTH_TOKEN_PATH")
        job = Job(name, os.getpid(), cluster.address, cluster.namespace, token, monitoring.url)
        job_registry.register(job)
        # A job takes a while to end, and does not answer meanwhile.
        self._stack.callback(job_registry.unregister, job)
        if watch is None:
            return server
        return WorkloadWatcher(watch, server, self._screen.say, self._screen.warn)

    def context(
        self,
        saved: SavedState,
        processes: JobProcesses,
        source: StreamSource,
        sink: EpochSink,
        monitoring: JobMonitoring,
    ) -> JobContext:
        options, pool, manifest = self._options, processes.pool, saved.manifest
        handover = ArrowExport(processes.spark, blocks=options.blocks)
        return JobContext(
            source=source,
            sink=sink,
            pool=pool,
            reader=EpochReader(source, handover, pool),
            checkpoints=saved.checkpoints,
            recorder=monitoring.recorder,
            watcher=self._screen,
            settings=options.settings,
            shards=options.actors * SHARDS_EACH if manifest is None else manifest.shards,
            lateness=options.lateness,
            given=fingerprints(self._workload),
        )

    def _local_folder(self, saved: SavedState) -> Path:
        """A folder on this machine, for input that must be kept until it is read."""
        kept = self._options.checkpoint
        return saved.temporary if kept is None or "://" in kept else Path(kept)

    def _input_format(self, columns: pa.Schema, clock: pa.DataType | None) -> InputFormat:
        needs, unit = self._input.options.needs, self._input.options.unit
        return InputFormat(needs.time_column, needs.type_column, unit, columns, clock)
