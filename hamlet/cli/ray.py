"""`hamlet run --engine ray`: runs a job on Ray and Spark, and writes its results."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import typer

from hamlet.cli.console_sink import PRINTED, ConsoleSink
from hamlet.cli.enums import OutputFormat
from hamlet.cli.exit_codes import INTERRUPTED
from hamlet.cli.job_screen import job_screen
from hamlet.cli.local_sinks import open_dead, open_late, open_sink
from hamlet.cli.sharing_summary import show_decisions
from hamlet.cli.signals import StopSignal
from hamlet.cli.stderr import Notices
from hamlet.cli.summary import print_summary
from hamlet.job.input_resolver import InputOptions, resolve_input
from hamlet.job.job_options import JobOptions
from hamlet.job.job_setup import JobOutcome, run
from hamlet.local_runner import Summary
from runtime.errors import InputError
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from spark_ingest.sinks.file_sink import PartsSink, WholeSink
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, EpochSink
from spark_ingest.sinks.staging import Staging


@dataclass(frozen=True)
class OutputOptions:
    to: str | None
    format: OutputFormat
    limit: int
    kafka_options: Path | None = None

    @property
    def folder(self) -> Path | None:
        return None if self.to is None or self.kafka else Path(self.to)

    @property
    def kafka(self) -> bool:
        return self.to is not None and self.to.startswith("kafka:")


def run_on_ray(
    workload: Workload,
    options: JobOptions,
    input: InputOptions,
    output: OutputOptions,
    notices: Notices,
    explain_sharing: bool,
) -> None:
    """After Ctrl-C, finishes the epochs under way and exits with 130."""
    opened = resolve_input(input)
    check_console(output, input.follow)
    whole = not input.follow and not output.kafka
    printed = output.to is None and not whole
    table = printed and output.format is OutputFormat.TABLE
    with job_screen(notices, shows_results=table) as screen, closing(StopSignal()) as stop:
        sinks = _Sinks(output, whole, notices)
        options = replace(options, log=output.folder)
        outcome = run(workload, options, opened, sinks.make, screen, stop, sinks.done, stop.listen)
        seconds = sinks.ended - screen.began
    sinks.print_last()
    _summarize(notices, outcome, output, seconds)
    if not outcome.finished:
        _say_stopped(notices, options)
    if explain_sharing:
        show_decisions(notices, outcome.decisions, outcome.model)
    if stop.interrupted and not outcome.finished:
        raise typer.Exit(INTERRUPTED)


def check_console(output: OutputOptions, follow: bool) -> None:
    if follow and output.to is None and output.format not in PRINTED:
        raise InputError(
            f"a followed input cannot be printed as {output.format.value}",
            "use --format json or table, or an --output",
        )


class _Sinks:
    """Makes the sink. Results of a bounded input are staged, and written when it ends."""

    def __init__(self, output: OutputOptions, whole: bool, notices: Notices) -> None:
        self._output = output
        self._whole = whole
        self._notices = notices
        self._kept: Staging | None = None
        self._console: ConsoleSink | None = None
        self.ended = 0.0

    def make(self, checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
        output = self._output
        names = [query.name for query in bound_workload.workload]
        staging = Staging(checkpoints.folder)
        if self._whole:
            self._kept = staging
            return WholeSink(staging)
        if output.kafka:
            return self._kafka(checkpoints.job, staging)
        if output.folder is not None:
            return PartsSink(output.folder, output.format.value, staging, names)
        live = self._notices.live
        self._console = ConsoleSink(bound_workload.workload, output.format, output.limit, live)
        return self._console

    def _kafka(self, job: str, staging: Staging) -> EpochSink:
        from spark_ingest.kafka.address import parse_address
        from spark_ingest.kafka.options import read_options
        from spark_ingest.sinks.kafka import KafkaSink

        assert self._output.to is not None
        properties = self._output.kafka_options
        return KafkaSink(
            parse_address(self._output.to),
            job,
            staging,
            options=None if properties is None else read_options(properties),
            say=self._notices.say,
        )

    def print_last(self) -> None:
        if self._console is not None:
            self._console.print_last()

    def done(self, outcome: JobOutcome) -> None:
        if outcome.finished and self._kept is not None:
            self._write(outcome, self._kept)
        self.ended = time.perf_counter()

    def _write(self, outcome: JobOutcome, kept: Staging) -> None:
        output, workload = self._output, outcome.bound_workload.workload
        with ExitStack() as stack:
            results = open_sink(stack, workload, output.folder, output.format, output.limit)
            beside: dict[str, Callable[[pa.Table], None]] = {
                DEAD_LETTER: open_dead(stack, output.folder, output.format),
                LATE: open_late(stack, output.folder, output.format),
            }
            results.write(outcome.bound_workload.empty())
            for epoch in kept.epochs():
                for name, table in kept.read(epoch).items():
                    if name in beside:
                        beside[name](table)
                    else:
                        results.write({name: table})


def _summarize(
    notices: Notices, outcome: JobOutcome, output: OutputOptions, seconds: float
) -> None:
    summary = Summary(outcome.counts, seconds, earlier=outcome.earlier, skipped=outcome.skipped)
    print_summary(notices, outcome.bound_workload.workload, summary, output.folder)


def _say_stopped(notices: Notices, options: JobOptions) -> None:
    if options.checkpoint is None:
        notices.warn("stopped; without --checkpoint, the open windows are lost")
    else:
        notices.say(f"stopped; the same command resumes from {options.checkpoint}")
