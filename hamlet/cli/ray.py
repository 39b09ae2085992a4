"""`hamlet run --engine ray`: runs a job on Ray and Spark, and writes its results."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import typer

from hamlet.cli.closing_limit import ClosingLimit
from hamlet.cli.console_sink import PRINTED, ConsoleSink
from hamlet.cli.deadline import CLOSE_SECONDS, Deadline
from hamlet.cli.enums import OutputFormat
from hamlet.cli.exit_codes import FAILURE, INTERRUPTED, TERMINATED, error_text
from hamlet.cli.job_failure import failures_explained, last_line
from hamlet.cli.job_screen import JobScreen, job_screen
from hamlet.cli.local_sinks import open_dead, open_late, open_sink
from hamlet.cli.output_address import is_kafka, output_path
from hamlet.cli.sharing_summary import show_decisions
from hamlet.cli.signals import StopSignal
from hamlet.cli.stderr import Notices
from hamlet.cli.summary import print_summary
from hamlet.job.epoch_commit import check_sink, is_unpublished
from hamlet.job.input_resolver import resolve_input
from hamlet.job.job_options import JobOptions
from hamlet.job.job_run import JobOutcome, run
from hamlet.job.resolved_input import InputOptions
from hamlet.local_runner import Summary
from runtime.errors import Failure, InputError
from runtime.io.atomic import check_folder
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.sinks.file_sink import (
    FileSink,
    RollingPolicy,
    WholeSink,
    check_result_files,
    files_address,
)
from spark_ingest.sinks.sink import EpochSink

if TYPE_CHECKING:
    from spark_ingest.sinks.kafka import KafkaSink


@dataclass(frozen=True)
class OutputOptions:
    to: str | None
    format: OutputFormat
    limit: int
    kafka_options: Path | None = None
    rolling: RollingPolicy = field(default_factory=RollingPolicy)

    @property
    def folder(self) -> Path | None:
        return output_path(self.to)

    @property
    def kafka(self) -> bool:
        return is_kafka(self.to)


def run_on_ray(
    workload: Workload,
    options: JobOptions,
    input: InputOptions,
    output: OutputOptions,
    notices: Notices,
    explain_sharing: bool,
) -> None:
    """After a signal, finishes the epochs under way. Exits with 130 after Ctrl-C, and with 143 if
    SIGTERM ended an input that has an end, whose results are missing."""
    opened = resolve_input(input)
    check_console(output, input.follow)
    whole = not input.follow and not output.kafka
    printed = output.to is None and not whole
    table = printed and output.format is OutputFormat.TABLE
    sinks = Sinks(output, whole, notices)
    options = replace(options, log=output.folder)
    written = None if whole else output.to
    with (
        job_screen(notices, shows_results=table) as screen,
        closing(StopSignal()) as stop,
        closing(Deadline(lambda: _kept(options.checkpoint, screen))) as deadline,
    ):
        deadline.watch_signals()
        text = ForcedEndText(screen, options.checkpoint, output.to, written)
        with (
            ClosingLimit(deadline, text.while_closing, lambda: stop.received) as limit,
            failures_explained(screen, options.checkpoint, written, notices),
        ):
            outcome = run(
                workload,
                options,
                opened,
                sinks.make,
                screen,
                stop,
                sinks.done,
                stop.listen,
                sinks.check,
                lambda lost: text.end_soon(deadline, lost),
                limit.begin,
            )
        seconds = sinks.ended - screen.began
    sinks.print_last()
    _summarize(notices, outcome, output, seconds)
    if not outcome.finished:
        _say_stopped(notices, options)
    if explain_sharing:
        show_decisions(notices, outcome.decisions, outcome.model)
    if not outcome.finished and (stop.interrupted or not input.follow):
        raise typer.Exit(INTERRUPTED if stop.interrupted else TERMINATED)


def check_console(output: OutputOptions, follow: bool) -> None:
    if follow and output.to is None and output.format not in PRINTED:
        raise InputError(
            f"a followed input cannot be printed as {output.format.value}",
            "use --format json or table, or an --output",
        )


class Sinks:
    """Makes the sink. Results of a bounded input are staged, and written when it ends."""

    def __init__(self, output: OutputOptions, whole: bool, notices: Notices) -> None:
        self._output = output
        self._whole = whole
        self._notices = notices
        self._checkpoints: CheckpointStore | None = None
        self._console: ConsoleSink | None = None
        self.ended = 0.0

    def check(self, checkpoints: CheckpointStore) -> None:
        """Refuses an output that cannot be written, a folder with results that the checkpoint does
        not know, and another output while results of the last run may be missing in that run's."""
        folder = self._output.folder
        if self._output.kafka:
            self._check_kafka(checkpoints)
        elif folder is not None:
            check_folder(folder)
            if not self._whole:
                check_result_files(folder, checkpoints.last_epoch)
        last = checkpoints.last()
        if last is not None and is_unpublished(last, checkpoints):
            check_sink(last, self._address())

    def _check_kafka(self, checkpoints: CheckpointStore) -> None:
        last = checkpoints.last()
        with closing(self._kafka("" if last is None else last.job)) as sink:
            sink.check(None if last is None else checkpoints.last_epoch)

    def _address(self) -> str:
        output = self._output
        if output.kafka:
            from spark_ingest.kafka.address import parse_address

            return f"--output {parse_address(output.to or '')}"
        if output.folder is None or self._whole:
            return ""
        return files_address(output.folder, output.format.value)

    def make(self, checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
        output = self._output
        names = [query.name for query in bound_workload.workload]
        if self._whole:
            self._checkpoints = checkpoints
            return WholeSink()
        if output.kafka:
            return self._kafka(checkpoints.job, checkpoints.check_owner)
        if output.folder is not None:
            known = checkpoints.folders
            return FileSink(output.folder, output.format.value, names, output.rolling, known)
        live = self._notices.live
        self._console = ConsoleSink(bound_workload.workload, output.format, output.limit, live)
        return self._console

    def _kafka(self, job: str, check_owner: Callable[[], None] = lambda: None) -> KafkaSink:
        from spark_ingest.kafka.address import parse_address
        from spark_ingest.kafka.options import read_options
        from spark_ingest.sinks.kafka import KafkaSink

        assert self._output.to is not None
        properties = self._output.kafka_options
        return KafkaSink(
            parse_address(self._output.to),
            job,
            options=None if properties is None else read_options(properties),
            say=self._notices.say,
            check_owner=check_owner,
        )

    def print_last(self) -> None:
        if self._console is not None:
            self._console.print_last()

    def done(self, outcome: JobOutcome) -> None:
        if outcome.finished and self._checkpoints is not None:
            self._write(outcome, self._checkpoints)
        self.ended = time.perf_counter()

    def _write(self, outcome: JobOutcome, checkpoints: CheckpointStore) -> None:
        output, workload = self._output, outcome.bound_workload.workload
        with ExitStack() as stack:
            results = open_sink(stack, workload, output.folder, output.format, output.limit)
            beside: dict[str, Callable[[pa.Table], None]] = {
                DEAD_LETTER: open_dead(stack, output.folder, output.format),
                LATE: open_late(stack, output.folder, output.format),
            }
            results.write(outcome.bound_workload.empty())
            assert outcome.last is not None
            for tables in checkpoints.results(outcome.last):
                for name, table in tables.items():
                    if name in beside:
                        beside[name](table)
                    else:
                        results.write({name: table})


def _summarize(
    notices: Notices, outcome: JobOutcome, output: OutputOptions, seconds: float
) -> None:
    summary = Summary(outcome.counts, seconds, earlier=outcome.earlier, skipped=outcome.skipped)
    print_summary(notices, outcome.bound_workload.workload, summary, output.folder)


@dataclass(frozen=True)
class ForcedEndText:
    """The last lines of a job that is ended by force. `written` is the folder of the results that
    it has published so far."""

    screen: JobScreen
    checkpoint: str | None
    output: str | None
    written: str | None

    def end_soon(self, deadline: Deadline, lost: Failure) -> None:
        """The job is about to fail, unless it waits for what was lost."""
        deadline.start(CLOSE_SECONDS, FAILURE, partial(self.after_failure, lost))

    def after_failure(self, lost: Failure) -> str:
        """The same as if the job had ended by itself."""
        return f"{error_text(lost)}\n{last_line(lost, self.screen, self.checkpoint, self.written)}"

    def while_closing(self, reason: BaseException | JobOutcome) -> str:
        """Does not ask Java for the message of its error: it may be Java that hangs."""
        if isinstance(reason, Failure):
            return self.after_failure(reason)
        if isinstance(reason, JobOutcome) and reason.finished and self.output is not None:
            return f"the results in {self.output} are complete"
        return _kept(self.checkpoint, self.screen)


def _kept(checkpoint: str | None, screen: JobScreen) -> str:
    """What is left of a job that was ended by force."""
    if checkpoint is None:
        return "nothing is kept: the job has no --checkpoint"
    epoch = "no epoch" if screen.last is None else f"epoch {screen.last.epoch}"
    return f"{epoch} was committed; the same command resumes from {checkpoint}"


def _say_stopped(notices: Notices, options: JobOptions) -> None:
    if options.checkpoint is None:
        notices.warn("stopped; without --checkpoint, the open windows are lost")
    else:
        notices.say(f"stopped; the same command resumes from {options.checkpoint}")
