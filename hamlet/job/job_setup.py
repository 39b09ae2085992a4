"""A job from its first check to its last epoch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from actors import cluster as clusters
from actors.actor_pool import A_CORE, ActorPool
from actors.hub import MetricsHub
from actors.placement import ResourceRequest, await_room
from hamlet.job import job_registry, tracing
from hamlet.job.control_server import Desk
from hamlet.job.driver import Driver, GaveUp
from hamlet.job.epoch_reader import Reader
from hamlet.job.epoch_report import Watcher
from hamlet.job.input_resolver import Input
from hamlet.job.job_registry import Job
from hamlet.job.metrics_recorder import Record
from hamlet.job.tracing import Tracing
from hamlet.job.workload_changes import Changes
from hamlet.job.workload_watcher import Watching
from runtime.errors import HamletError
from runtime.execution import state_file as checkpoint
from runtime.language.query import Workload
from runtime.metrics.http_server import LOOPBACK, check_port
from runtime.metrics.snapshot import Shows
from runtime.optimizer.model_report import ModelFacts
from runtime.pipeline.aggregation import Change
from runtime.pipeline.blob_store import Folder
from runtime.pipeline.bound_workload import Intake
from runtime.pipeline.checkpoint import Checkpoints
from runtime.pipeline.manifest import Counts, Manifest
from runtime.pipeline.routing_table import Reading
from runtime.pipeline.shard import Settings
from runtime.plan.decisions import Decisions
from runtime.report.run_log import RunLog
from spark_ingest import session
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.jars import kafka_jars
from spark_ingest.sinks.sink import EpochSink
from spark_ingest.sources.source import StreamSource

# Shards for each aggregator: so many times more aggregators can take over from a checkpoint.
SHARDS_EACH = 4
ROUTERS = 2


@dataclass(frozen=True)
class Asked:
    """How the job is to run. `name` is what other commands know it by."""

    name: str = "hamlet"
    address: str | None = None
    actors: int = 2
    checkpoint: str | None = None
    lateness: int = 0
    blocks: bool = True
    metrics_port: int | None = None  #: of the hub; None: none, or any where the job goes on
    metrics_host: str = LOOPBACK
    watch: Path | None = None  #: the file whose queries are those of the job, as long as it runs
    shows: tuple[Shows, ...] = ()  #: who else hears of the newest facts
    log: Path | None = None  #: the folder in which the run keeps its log, for a report
    size: session.SparkSize = field(default_factory=session.SparkSize)
    settings: Settings = field(default_factory=Settings)


class Screen(Watcher, Protocol):
    """What is told on the way, besides epochs."""

    def stage(self, what: str) -> None:
        """What is being done before the first epoch."""

    def warn(self, what: str) -> None: ...

    def say(self, what: str) -> None: ...

    def serves(self, url: str) -> None:
        """The hub can be looked at there."""


MakeSink = Callable[[Checkpoints, Intake], EpochSink]


@dataclass
class Outcome:
    counts: Counts
    decisions: list[Decisions]
    intake: Intake
    finished: bool  #: the input has ended; else the job was told to stop
    skipped: list[str] = field(default_factory=list)
    earlier: int = 0  #: events that were counted before this run
    model: ModelFacts = field(default_factory=ModelFacts)


def run(
    workload: Workload,
    asked: Asked,
    input: Input,
    make_sink: MakeSink,
    screen: Screen,
    stopping: Callable[[], bool],
    done: Callable[[Outcome], None],
    started: Callable[[], None] = lambda: None,
) -> Outcome:
    """`started` is called before the first epoch, `done` after the last one, while all that the
    job has kept is still there."""
    with ExitStack() as stack:
        if input.asked.follow:  # only a job that goes on can be asked
            stack.enter_context(job_registry.listed(Job(asked.name, os.getpid())))
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hamlet-job-")))
        folder = Folder(
            asked.checkpoint or str(temporary / "checkpoint"), asked.checkpoint is not None
        )
        checkpoints = Checkpoints(folder)
        manifest = checkpoints.open(screen.warn)
        schema = _schema(manifest, input.look(temporary))
        if schema is not None:  # so that a mistake is told before anything is started
            begun = _begins_with(workload, asked, manifest)
            Intake(begun, _reading(input, schema, None), asked.settings.numeric)
        if manifest is not None:
            _check_same(manifest, input, asked)
            _difference(manifest, workload, asked)
        if asked.metrics_port and asked.address is None:
            check_port(asked.metrics_port, asked.metrics_host)
        screen.stage("starting Ray")
        cluster = _cluster(stack, asked, screen)
        crew = ActorPool(asked.actors, min(asked.actors, ROUTERS))
        stack.callback(crew.close)
        screen.stage("starting Spark")
        jars = kafka_jars() if input.jars else []
        spark = session.start(cluster, asked.size, jars=jars)
        screen.stage("opening the input")
        at = None if manifest is None else manifest.position
        source = input.open(spark, _here(asked, temporary), schema, at)
        stack.callback(source.close)
        first, change = _begun(workload, asked, input, source, manifest)
        sink = make_sink(checkpoints, _after(first, change))
        stack.callback(sink.close)
        again = sink.recover(-1 if manifest is None else manifest.epoch)
        hub = _hub(stack, asked, input.asked.follow)
        shows = _shows(stack, asked, hub, _log(asked, input, manifest, screen.warn))
        record = Record(asked.name, first, shows, _tracing(stack, asked.name))
        if hub is not None:
            screen.serves(hub.url)
        changes = _changes(stack, asked, cluster, hub, screen) if input.asked.follow else None
        driver = Driver(
            source,
            sink,
            crew,
            Reader(source, ArrowExport(spark, blocks=asked.blocks), crew),
            checkpoints,
            first,
            asked.settings,
            screen,
            record,
            shards=asked.actors * SHARDS_EACH if manifest is None else manifest.shards,
            lateness=asked.lateness,
            given=fingerprints(workload),
            manifest=manifest,
            again=again,
            change=change,
            changes=changes,
            stopping=stopping,
        )
        record.show()
        screen.stage("")
        started()
        try:
            driver.run()
        except Exception as error:
            if isinstance(error, GaveUp) or not isinstance(error, HamletError):
                screen.warn(f"the logs of Ray and Spark are in {cluster.logs}")
            raise
        outcome = Outcome(
            driver.counts,
            record.decisions,
            driver.intake,
            driver.finished,
            list(getattr(source, "skipped", ())),
            0 if manifest is None else manifest.counts.events,
            record.facts.model,
        )
        done(outcome)
        return outcome


def _cluster(stack: ExitStack, asked: Asked, screen: Screen) -> clusters.Cluster:
    embedded = asked.address is None
    environment = session.environment(embedded)
    if asked.address is None:
        return stack.enter_context(clusters.start(environment))
    cluster = stack.enter_context(clusters.connect(asked.address, environment))
    _check_shared(asked, cluster)
    screen.stage("waiting for room on the cluster")
    await_room(_wanted(asked), screen.say)
    _check_shared(asked, cluster)  # some nodes may have come just now
    return cluster


def _check_shared(asked: Asked, cluster: clusters.Cluster) -> None:
    if asked.checkpoint is None and cluster.nodes > 1:
        raise HamletError(
            "the state of a job on several machines must be where all of them reach it",
            "name a shared folder or an object store with --checkpoint",
        )


def _wanted(asked: Asked) -> ResourceRequest:
    """All that asks for cores. Who asks for none has room where these have."""
    actors, size = asked.actors, asked.size
    told = f"{actors} for --actors, {size.cores} with {size.memory} for each executor of Spark"
    return ResourceRequest([A_CORE] * actors + [size.of_an_executor()] * size.executors, told)


def _hub(stack: ExitStack, asked: Asked, follow: bool) -> MetricsHub | None:
    """A job that goes on can be looked at; one that ends, where that is asked for."""
    if asked.metrics_port is None and not follow:
        return None
    hub = MetricsHub(asked.metrics_port or 0, asked.metrics_host)
    stack.callback(hub.close)
    return hub


def _tracing(stack: ExitStack, job: str) -> Tracing | None:
    if not tracing.is_wanted():
        return None
    found = Tracing(job)
    stack.callback(found.close)
    return found


def _log(
    asked: Asked, input: Input, manifest: Manifest | None, warn: Callable[[str], None]
) -> RunLog | None:
    """That of a job which can go on is there from the start, and is taken up again."""
    if asked.log is None:
        return None
    lasting = input.asked.follow or asked.checkpoint is not None
    return RunLog(asked.log, warn, lasting, goes_on=manifest is not None)


def _shows(
    stack: ExitStack, asked: Asked, hub: MetricsHub | None, log: RunLog | None
) -> list[Shows]:
    shows = list(asked.shows)
    if hub is not None:
        shows.append(hub)
    if log is not None:
        stack.callback(log.close)
        shows.append(log)
    return shows


def _changes(
    stack: ExitStack,
    asked: Asked,
    cluster: clusters.Cluster,
    hub: MetricsHub | None,
    screen: Screen,
) -> Changes:
    """From now on the job can be asked to change."""
    desk = Desk(asked.name, asked.watch)
    stack.callback(desk.close)
    token = os.environ.get("RAY_AUTH_TOKEN_PATH")
    url = "" if hub is None else hub.url
    job = Job(asked.name, os.getpid(), cluster.address, cluster.namespace, token, url)
    job_registry.tell(job)
    stack.callback(job_registry.forget, job)  # it takes a while to end, and answers nobody then
    return desk if asked.watch is None else Watching(asked.watch, desk, screen.say, screen.warn)


def _here(asked: Asked, temporary: Path) -> Path:
    """A folder on this machine for what must be kept until it is read."""
    kept = asked.checkpoint
    return temporary if kept is None or "://" in kept else Path(kept)


def _schema(manifest: Manifest | None, found: pa.Schema | None) -> pa.Schema | None:
    """The columns of an earlier run stay as they were; there may be more of them now."""
    if manifest is None or found is None:
        return found if manifest is None else manifest.reading.columns
    known = manifest.reading.columns
    return pa.schema([*known, *(each for each in found if each.name not in known.names)])


def _reading(input: Input, columns: pa.Schema, clock: pa.DataType | None) -> Reading:
    needs, unit = input.asked.needs, input.asked.unit
    return Reading(needs.time_column, needs.type_column, unit, columns, clock)


def _begins_with(workload: Workload, asked: Asked, manifest: Manifest | None) -> Workload:
    """Where the file is watched, a job that goes on begins with the queries it had."""
    return workload if manifest is None or asked.watch is None else manifest.workload


def _begun(
    workload: Workload, asked: Asked, input: Input, source: StreamSource, manifest: Manifest | None
) -> tuple[Intake, Change | None]:
    """What aggregators begin with, and what has come and gone since the checkpoint."""
    numeric = asked.settings.numeric
    if manifest is None:
        return Intake(workload, _reading(input, source.schema, source.clock()), numeric), None
    _check_equal("--input", manifest.source, source.name)
    reading = _reading(input, source.schema, manifest.reading.clock)
    return Intake(manifest.workload, reading, numeric), _difference(manifest, workload, asked)


def _after(first: Intake, change: Change | None) -> Intake:
    return first if change is None else first.changed(change.added, change.removed)


def _check_same(manifest: Manifest, input: Input, asked: Asked) -> None:
    settings, needs = asked.settings, input.asked.needs
    for what, before, now in (
        ("--numeric", manifest.settings["numeric"], settings.numeric),
        ("--ties", manifest.settings["ties"], settings.ties),
        ("--time-column", manifest.reading.time_column, needs.time_column),
        ("--type-column", manifest.reading.type_column, needs.type_column),
        ("--time-unit", manifest.reading.time_unit, input.asked.unit),
    ):
        _check_equal(what, before, now)
    if asked.actors > manifest.shards:
        raise HamletError(
            f"the checkpoint has {manifest.shards} shards, too few for --actors {asked.actors}",
            f"at most --actors {manifest.shards}, or begin anew with another --checkpoint folder",
        )


def _check_equal(what: str, before: object, now: object) -> None:
    if before != now:
        raise HamletError(
            f"the checkpoint was made with {what} {before}, but this run has {now}",
            "say the same again, or begin anew with another --checkpoint folder",
        )


def _difference(manifest: Manifest, now: Workload, asked: Asked) -> Change | None:
    """What the user gives now against what was given then: queries that came or went while the
    job ran are not meant. Where the file is watched, it will be looked at as if it had changed."""
    if asked.watch is not None:
        return None
    before, wanted = manifest.given, fingerprints(now)
    for name, mark in wanted.items():
        if before.get(name, mark) != mark:
            raise HamletError(
                f"`{name}` is not the query of the checkpoint",
                "give the changed query a new name, then it counts from here on",
            )
    running = fingerprints(manifest.workload)
    for name in wanted.keys() - before.keys():
        if running.get(name, wanted[name]) != wanted[name]:
            raise HamletError(f"another query called `{name}` was added while the job ran")
    added = tuple(q for q in now if q.name not in before and q.name not in running)
    removed = tuple(name for name in before if name not in wanted and name in running)
    return Change(added, removed) if added or removed else None


def fingerprints(workload: Workload) -> dict[str, str]:
    return {query.name: checkpoint.fingerprint(query) for query in workload}
