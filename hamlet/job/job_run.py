"""Runs a job on Ray and Spark: checks what it is given, opens its parts, drives it to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from hamlet.job.driver import Driver
from hamlet.job.job_context import StartPoint
from hamlet.job.job_options import JobOptions
from hamlet.job.job_setup import (
    JobProcesses,
    JobSetup,
    MakeSink,
    SavedState,
    Screen,
    check_processes,
)
from hamlet.job.resolved_input import ResolvedInput
from runtime.errors import Failure, HamletError, is_user_error
from runtime.language.query import Workload
from runtime.optimizer.model_report import ModelMetrics
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.plan.decisions import Decisions
from spark_ingest.sources.source import StreamSource

#: Refuses an output that does not fit the checkpoint.
CheckOutput = Callable[[CheckpointStore], None]


@dataclass
class JobOutcome:
    counts: RunCounts
    decisions: list[Decisions]
    bound_workload: BoundWorkload
    finished: bool  #: the input has ended; if not, the job was stopped
    last: Manifest | None  #: of the last committed epoch
    skipped: list[str] = field(default_factory=list)
    earlier: int = 0  #: events that were counted before this run
    model: ModelMetrics = field(default_factory=ModelMetrics)


def run(
    workload: Workload,
    options: JobOptions,
    input: ResolvedInput,
    make_sink: MakeSink,
    screen: Screen,
    stopping: Callable[[], bool],
    done: Callable[[JobOutcome], None],
    started: Callable[[], None] = lambda: None,
    check_output: CheckOutput = lambda checkpoints: None,
    lost: Callable[[Failure], None] = lambda failure: None,
    closing: Callable[[BaseException | JobOutcome], None] = lambda reason: None,
) -> JobOutcome:
    """Calls `started` before the first epoch and `done` after the last one, while all parts of the
    job are still open, and `closing` before it closes them. Calls `lost`, from another thread, if a
    process is lost and the job is about to fail: what it waits for may never come."""
    with ExitStack() as stack, _announced(closing):
        job = open_job(
            stack, workload, options, input, make_sink, screen, stopping, check_output, lost
        )
        started()
        outcome = job.drive()
        done(outcome)
        closing(outcome)
        return outcome


@contextmanager
def _announced(closing: Callable[[BaseException | JobOutcome], None]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        closing(error)
        raise


def open_job(
    stack: ExitStack,
    workload: Workload,
    options: JobOptions,
    input: ResolvedInput,
    make_sink: MakeSink,
    screen: Screen,
    stopping: Callable[[], bool],
    check_output: CheckOutput = lambda checkpoints: None,
    lost: Callable[[Failure], None] = lambda failure: None,
) -> OpenJob:
    """A job that is ready for its first epoch; `stack` closes it. Nothing of the checkpoint, the
    output and the input's segments is touched before all checks have passed and the run owns the
    checkpoint."""
    setup = JobSetup(stack, workload, options, input, screen, lost)
    setup.register()
    saved = setup.look_at_checkpoint()
    columns = setup.probe_input(saved)
    setup.check(saved, columns)
    check_output(saved.checkpoints)
    processes = setup.start_processes()
    saved = setup.claim_checkpoint(saved)
    schema = setup.check(saved, columns)  # again: another run may have gone on meanwhile
    source = setup.open_input(processes.spark, saved, schema)
    bound_workload, change = setup.bind_workload(source, saved)
    sink = setup.open_sink(make_sink, saved, bound_workload, change)
    saved.checkpoints.check_owner()  # recovering would stop the sink of a run that took over
    replay = sink.recover(saved.epoch)
    monitoring = setup.open_monitoring(bound_workload, saved)
    changes = setup.accept_changes(processes.cluster, monitoring)
    setup.watch(processes, monitoring)
    driver = Driver(
        setup.context(saved, processes, source, sink, monitoring),
        StartPoint(bound_workload, saved.manifest, change, replay),
        changes,
        stopping,
    )
    monitoring.recorder.show()
    screen.stage(f"reading {input.name}")
    screen.stage("")
    return OpenJob(driver, source, saved, processes, screen)


@dataclass(frozen=True)
class OpenJob:
    driver: Driver
    source: StreamSource
    saved: SavedState
    processes: JobProcesses
    screen: Screen

    def drive(self) -> JobOutcome:
        """Runs it until its input ends or it is stopped."""
        try:
            self.driver.run()
        except Exception as error:
            if not isinstance(error, HamletError):
                check_processes(self.processes)
                self.processes.watchdog.explain()
            if not is_user_error(error) and getattr(error, "hint", None) is None:
                self.screen.warn(f"the logs of Ray and Spark are in {self.processes.cluster.logs}")
            raise
        return _outcome(self.driver, self.source, self.saved)


def _outcome(driver: Driver, source: StreamSource, saved: SavedState) -> JobOutcome:
    return JobOutcome(
        driver.counts,
        driver.recorder.decisions,
        driver.bound_workload,
        driver.finished,
        driver.committed,
        list(getattr(source, "skipped", ())),
        0 if saved.manifest is None else saved.manifest.counts.events,
        driver.recorder.snapshot.model,
    )
