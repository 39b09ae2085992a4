"""Runs a bounded input in this process: `hamlet run --engine local`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from hamlet.cli.compile_progress import watch_compiler
from hamlet.cli.enums import OutputFormat
from hamlet.cli.local_sinks import open_dead, open_sink
from hamlet.cli.local_source import GeneratedSource, open_source
from hamlet.cli.progress import progress_bars
from hamlet.cli.sharing_summary import show_decisions
from hamlet.cli.stderr import Notices
from hamlet.cli.summary import print_summary
from hamlet.local_metrics import LocalMetrics
from hamlet.local_runner import BatchSource, run
from runtime.language.query import Workload
from runtime.metrics.http_server import MetricsServer
from runtime.metrics.snapshot import MetricsListener
from runtime.optimizer.local_optimizer import LocalOptimizer
from runtime.optimizer.model_report import ModelMetrics
from runtime.pipeline.engine import Engine
from runtime.pipeline.manifest import RunCounts
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.plan.planner import plan as planned
from runtime.plan.sharing_plan import SharingPlan
from runtime.report.run_log import RunLog
from runtime.types.schema import Schema


@dataclass(frozen=True)
class LocalInput:
    """What `--input` names, and how it is read."""

    address: str
    columns: InputFormat
    format: str | None = None
    declared: Schema | None = None
    follow_links: bool = False

    def open(self, workload: Workload) -> BatchSource:
        return open_source(
            self.address,
            format=self.format,
            uses=workload.uses,
            time_column=self.columns.time_column,
            type_column=self.columns.type_column,
            declared=self.declared,
            follow_links=self.follow_links,
        )


@dataclass(frozen=True)
class LocalOutput:
    """Where results go: into a folder or, without one, up to `limit` rows of each query to the
    terminal."""

    folder: Path | None
    format: OutputFormat
    limit: int


@dataclass(frozen=True)
class LocalMonitoring:
    """Who hears of the metrics of a job: listeners, and a server if it has a port."""

    job: str = "hamlet"
    listeners: tuple[MetricsListener, ...] = ()
    port: int | None = None
    host: str = "127.0.0.1"


def run_in_process(
    workload: Workload,
    settings: Settings,
    input: LocalInput,
    output: LocalOutput,
    monitoring: LocalMonitoring,
    notices: Notices,
    explain_sharing: bool,
) -> None:
    plan = settings.plan
    if settings.planner is not None:
        plan = planned(workload, settings.planner).plan
    engine = Engine.of(workload, replace(settings, plan=plan), input.columns)
    counts = RunCounts()
    with ExitStack() as stack:
        source = stack.enter_context(input.open(workload))
        for warning in source.warnings:
            notices.warn(warning)
        results = open_sink(stack, workload, output.folder, output.format, output.limit)
        dead = open_dead(stack, output.folder, output.format)
        total = source.events if isinstance(source, GeneratedSource) else None
        optimizer = _local_optimizer(stack, engine, plan, settings)
        listeners = _listeners(stack, monitoring, output.folder, notices)
        metrics = LocalMetrics(
            monitoring.job, engine, counts, _model(optimizer), _plan(optimizer, plan), listeners
        )
        # Without listeners, only the decisions are recorded, at the end.
        observed = metrics if listeners else None
        observers = [each for each in (optimizer, observed) if each is not None]
        with (
            progress_bars(notices, total) as progress,
            watch_compiler(progress.compiling) as compiler,
        ):
            summary = run(engine, source, results, dead, progress, observers, counts)
        metrics.finish()
        summary.compiling = compiler.seconds
    print_summary(notices, workload, summary, output.folder)
    if explain_sharing:
        show_decisions(notices, metrics.decisions, _model(optimizer)())


def _local_optimizer(
    stack: ExitStack, engine: Engine, plan: SharingPlan | None, settings: Settings
) -> LocalOptimizer | None:
    """The exact engine shares nothing, so it needs no advice."""
    if settings.numeric != "float":
        return None
    optimizer = LocalOptimizer(engine, plan or SharingPlan(), settings.planner)
    stack.callback(optimizer.close)
    return optimizer


def _model(optimizer: LocalOptimizer | None) -> Callable[[], ModelMetrics]:
    return ModelMetrics if optimizer is None else lambda: optimizer.optimizer.metrics


def _plan(
    optimizer: LocalOptimizer | None, plan: SharingPlan | None
) -> Callable[[], SharingPlan | None]:
    return (lambda: plan) if optimizer is None else lambda: optimizer.optimizer.plan


def _listeners(
    stack: ExitStack, monitoring: LocalMonitoring, folder: Path | None, notices: Notices
) -> list[MetricsListener]:
    found = list(monitoring.listeners)
    if folder is not None:
        log = RunLog(folder, notices.warn)
        stack.callback(log.close)
        found.append(log)
    if monitoring.port is not None:
        hub = MetricsServer(monitoring.port, monitoring.host)
        stack.callback(hub.close)
        notices.say(f"live page and metrics: {hub.url}")
        found.append(hub)
    return found
