"""Opens the parts of a job on Ray and Spark, stage by stage, after checking what it is given."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from actors.actor_pool import ActorPool
from actors.cluster import Cluster
from actors.health import way_on
from actors.process_watch import (
    ActorTable,
    ActorWatch,
    LocalProcesses,
    ProcessWatch,
    WatchedActor,
    ray_agents,
    ray_servers,
)
from actors.rehearsal import rehearsals
from hamlet.job import job_registry
from hamlet.job.cluster_setup import start_cluster
from hamlet.job.control_server import ControlServer
from hamlet.job.epoch_reader import EpochReader
from hamlet.job.epoch_report import EpochListener
from hamlet.job.job_context import JobContext
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
from hamlet.job.resolved_input import ResolvedInput
from hamlet.job.watchdog import Watchdog
from hamlet.job.workload_changes import WorkloadChanges
from hamlet.job.workload_watcher import WorkloadWatcher
from runtime.errors import Failure, is_user_error
from runtime.language.query import Workload
from runtime.metrics.http_server import check_port
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest
from runtime.pipeline.routing_table import InputFormat
from runtime.temporary_folder import TemporaryFolder
from spark_ingest import session
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.jars import fetched
from spark_ingest.sinks.sink import EpochSink
from spark_ingest.sources.source import StreamSource
from spark_ingest.spark_watch import (
    AppMaster,
    LaunchedDriver,
    SparkDriver,
    raydp_actors,
    raydp_job,
    spark_driver,
)

# Shards for each aggregator: a resumed job can have this many times more aggregators.
SHARDS_EACH = 4
ROUTERS = 2


class Screen(EpochListener, Protocol):
    """Shows the user what happens, from the start of the job to its end."""

    def stage(self, what: str) -> None:
        """What the job does until it runs; empty when it does."""

    def warn(self, what: str) -> None: ...

    def say(self, what: str) -> None: ...

    def serves(self, url: str) -> None:
        """The address of the live page."""


MakeSink = Callable[[CheckpointStore, BoundWorkload], EpochSink]


@dataclass(frozen=True)
class SavedState:
    """The checkpoint of a job, and a folder for temporary files of this run."""

    temporary: Path
    checkpoints: CheckpointStore
    manifest: Manifest | None

    @property
    def epoch(self) -> int:
        """The last committed one, or -1."""
        return -1 if self.manifest is None else self.manifest.epoch


@dataclass(frozen=True)
class JobProcesses:
    """The processes of a job on its cluster."""

    cluster: Cluster
    pool: ActorPool
    spark: session.SessionStart | session.GivenSession
    watchdog: Watchdog


def check_processes(processes: JobProcesses) -> None:
    """Raises an error if the job has lost a process that nothing restarts. The cluster comes first:
    it also ends what would wait for the lost one. Its message is that of the watchdog, which may
    know more: that the process was stopped."""
    watchdog = processes.watchdog
    try:
        processes.cluster.check()
        processes.spark.check()
    except Failure as failure:
        watchdog.check()
        watchdog.report(failure)
        raise
    watchdog.check()


def _other_actors(table: ActorTable) -> list[WatchedActor]:
    """Those that come and go."""
    return [*raydp_actors(table), *rehearsals(table)]


class JobSetup:
    """The stages in which a job is opened. Whatever a stage opens, `stack` closes."""

    def __init__(
        self,
        stack: ExitStack,
        workload: Workload,
        options: JobOptions,
        input: ResolvedInput,
        screen: Screen,
        lost: Callable[[Failure], None],
    ) -> None:
        self._stack, self._screen, self._lost = stack, screen, lost
        self._workload, self._options, self._input = workload, options, input
        self._follow = input.options.follow
        self._actors: list[WatchedActor] = []
        self._monitoring: JobMonitoring | None = None
        self._spark_infers = False  #: the columns, for which it may run a job

    def register(self) -> None:
        """Only a job without an end can be found by other commands."""
        if self._follow:
            job = Job(self._options.name, os.getpid())
            self._stack.enter_context(job_registry.registered(job))

    def look_at_checkpoint(self) -> SavedState:
        """Reads the newest epoch and writes nothing: another run may own the checkpoint."""
        self._input.check_checkpoint(self._options.checkpoint)
        temporary = self._stack.enter_context(TemporaryFolder("job-"))
        kept = self._options.checkpoint
        checkpoints = CheckpointStore(
            BlobStore(kept or str(temporary / "checkpoint"), kept is not None)
        )
        return SavedState(temporary, checkpoints, checkpoints.last())

    def claim_checkpoint(self, saved: SavedState) -> SavedState:
        screen, checkpoints = self._screen, saved.checkpoints
        if self._options.checkpoint is not None:
            screen.stage("opening the checkpoint")
        self._stack.callback(checkpoints.close)
        return replace(saved, manifest=checkpoints.claim(screen.warn, screen.say))

    def probe_input(self, saved: SavedState) -> pa.Schema | None:
        """The columns of the input, if they are known without Spark."""
        options = self._options
        if options.metrics_port:
            check_port(options.metrics_port, options.metrics_host)
        found = self._input.probe_schema(saved.temporary)
        self._spark_infers = found is None
        return found

    def check(self, saved: SavedState, found: pa.Schema | None) -> pa.Schema | None:
        """Finds errors before anything is started. Returns the columns, also those of an earlier
        run, if they are known."""
        options, manifest = self._options, saved.manifest
        if manifest is not None:
            check_equal("--input", manifest.source, self._input.name)
            self._input.check_resumable(manifest.finished)
            check_options(manifest, options, self._input.options)
            workload_change(manifest, self._workload, options)
        schema = merged_schema(manifest, found)
        if schema is not None:
            # A job whose query file is watched starts with the queries of its checkpoint.
            watched = manifest is not None and options.watch is not None
            workload = manifest.workload if manifest and watched else self._workload
            BoundWorkload(workload, self._input_format(schema, None), options.settings.numeric)
        return schema

    def start_processes(self) -> JobProcesses:
        """Spark may still be starting when this returns."""
        options, screen, users = self._options, self._screen, self._input.session
        if users is not None:
            cluster = start_cluster(self._stack, options, None, screen.stage, screen.say)
            watchdog, spark = self._watch_servers(cluster), session.GivenSession(users, cluster)
            return JobProcesses(cluster, self._start_actors(), spark, watchdog)
        starting = self._session_start()
        cluster = start_cluster(
            self._stack, options, starting.launch_driver, screen.stage, screen.say
        )
        watchdog = self._watch_servers(cluster)
        screen.stage("starting Spark")
        starting.begin(cluster)
        starting.wait_for_master()
        return JobProcesses(cluster, self._start_actors(), starting, watchdog)

    def _session_start(self) -> session.SessionStart:
        needs = self._input.spark_needs
        if needs.jars:
            self._screen.stage("looking for the jars that Spark needs")
        jars, settings = fetched(needs.jars), dict(needs.settings)
        return session.SessionStart(self._options.size, jars=jars, settings=settings)

    def _start_actors(self) -> ActorPool:
        options = self._options
        pool = ActorPool(options.actors, min(options.actors, ROUTERS))
        self._stack.callback(pool.close)
        self._actors += pool.watched
        return pool

    def _watch_servers(self, cluster: Cluster) -> Watchdog:
        """Ray's servers and Spark's driver are watched from their start: everything else waits for
        them. A driver of the user is left alone: a watchdog kills what hangs."""
        watches: list[ProcessWatch] = [LocalProcesses(ray_servers())] if cluster.embedded else []
        if self._input.session is None:
            watches.append(LaunchedDriver())
        watchdog = Watchdog(
            watches,
            self._count_restart,
            self._screen.warn,
            way_on(cluster.logs),
            self._lost,
        )
        self._stack.callback(watchdog.stop)
        watchdog.start()
        self._stack.push(partial(self._explain_start, watchdog))
        return watchdog

    def _explain_start(self, watchdog: Watchdog, kind: object, error: object, _: object) -> None:
        """If Spark or the input does not open: raises the cause if a server was lost. Errors of a
        running job are explained where they are raised."""
        if isinstance(error, Exception) and not is_user_error(error) and self._monitoring is None:
            watchdog.explain()

    def _count_restart(self, kind: str) -> None:
        if self._monitoring is not None:
            self._monitoring.recorder.restarted(kind)

    def open_input(
        self,
        spark: session.SessionStart | session.GivenSession,
        saved: SavedState,
        schema: pa.Schema | None,
    ) -> StreamSource:
        if not spark.connected:
            self._screen.stage("waiting for Spark")
        found = spark.wait_for_executors() if self._spark_infers else spark.wait()
        self._screen.stage("opening the input")
        position = None if saved.manifest is None else saved.manifest.position
        self._input.owner = saved.checkpoints.owner
        source = self._input.open(found, self._local_folder(saved), schema, position)
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
            self._actors += monitoring.hub.watched
            self._screen.serves(monitoring.url)
        return monitoring

    def accept_changes(self, cluster: Cluster, monitoring: JobMonitoring) -> WorkloadChanges | None:
        """From now on other commands can add and remove queries."""
        if not self._follow:
            return None
        name, watch = self._options.name, self._options.watch
        server = ControlServer(name, watch)
        self._stack.callback(server.close)
        self._actors += server.watched
        token = os.environ.get("RAY_AUTH_TOKEN_PATH")
        job = Job(name, os.getpid(), cluster.address, cluster.namespace, token, monitoring.url)
        job_registry.register(job)
        # A job takes a while to end, and does not answer meanwhile.
        self._stack.callback(job_registry.unregister, job)
        if watch is None:
            return server
        return WorkloadWatcher(watch, server, self._screen.say, self._screen.warn)

    def watch(self, processes: JobProcesses, monitoring: JobMonitoring) -> None:
        """From now on all processes of the job are watched, until the first of them is closed."""
        self._monitoring = monitoring
        agents = ray_agents() if processes.cluster.embedded else {}
        watchdog, spark = processes.watchdog, processes.spark.wait()
        if self._input.session is None:
            watchdog.add(
                LocalProcesses(agents | spark_driver()),
                ActorWatch(self._actors, _other_actors, [raydp_job()]),
                SparkDriver(spark),
                AppMaster(spark),
            )
        else:  # a watchdog kills what hangs, and Spark is the user's
            watchdog.add(LocalProcesses(agents), ActorWatch(self._actors, rehearsals))
        self._stack.callback(watchdog.stop)

    def context(
        self,
        saved: SavedState,
        processes: JobProcesses,
        source: StreamSource,
        sink: EpochSink,
        monitoring: JobMonitoring,
    ) -> JobContext:
        options, pool, manifest = self._options, processes.pool, saved.manifest
        export = ArrowExport(processes.spark.wait(), blocks=options.blocks)
        return JobContext(
            source=source,
            sink=sink,
            pool=pool,
            reader=EpochReader(source, export, pool),
            checkpoints=saved.checkpoints,
            recorder=monitoring.recorder,
            watcher=self._screen,
            settings=options.settings,
            shards=options.actors * SHARDS_EACH if manifest is None else manifest.shards,
            lateness=options.lateness,
            given=fingerprints(self._workload),
            check_processes=partial(check_processes, processes),
        )

    def _local_folder(self, saved: SavedState) -> Path:
        """A folder on this machine, for input that must be kept until it is read."""
        kept = self._options.checkpoint
        return saved.temporary if kept is None or "://" in kept else Path(kept)

    def _input_format(self, columns: pa.Schema, clock: pa.DataType | None) -> InputFormat:
        needs, unit = self._input.options.needs, self._input.options.unit
        return InputFormat(needs.time_column, needs.type_column, unit, columns, clock)
