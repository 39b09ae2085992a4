"""`hamlet run`: runs the queries of a file over an input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hamlet.cli import options
from hamlet.cli.enums import DataFormat, EngineName, Sharing
from hamlet.cli.flag_groups import ungrouped
from hamlet.cli.help import examples, prose
from hamlet.cli.output_address import output_path
from hamlet.cli.run_checks import check_flags, chosen_format, chosen_planner
from hamlet.cli.run_flags import InputFlags, OutputFlags, RuntimeFlags, SharingFlags
from hamlet.cli.stderr import LoggedNotices, Notices
from hamlet.logs import MetricsLogger, configure
from runtime.types.name_bytes import with_bytes_escaped

if TYPE_CHECKING:
    from hamlet.job.job_options import JobOptions
    from runtime.language.query import Workload
    from runtime.pipeline.settings import Settings
    from runtime.types.schema import Schema

EXAMPLES = examples(
    ("hamlet run queries.sase --input events.parquet", "print the results as tables"),
    (
        "hamlet run queries.sase --input events.csv --time-unit ms --output results",
        "write a Parquet file for each query to the folder results",
    ),
    ("hamlet run queries.sase --input 'generate:stock?events=100000'", "use a generated stream"),
    (
        "hamlet run queries.sase --input incoming/ --follow --lateness 10s --output results "
        "--checkpoint state",
        "follow a folder in which files appear; the same command resumes after a crash",
    ),
    ("hamlet run queries.sase --input kafka://broker:9092/rides --follow", "follow a topic"),
    (
        "zcat events.jsonl.gz | hamlet run queries.sase --input - --engine local --format json | "
        "jq .",
        "in a pipe: one JSON object for each row, with the name of its query",
    ),
    ("hamlet run queries.sase --input events/ --numeric exact", "a folder of files, every digit"),
)


def register(app: typer.Typer) -> None:
    app.command("run", help=prose(command), epilog=EXAMPLES)(ungrouped(command))


def command(
    workload: options.WorkloadFile,
    input: InputFlags,
    output: OutputFlags,
    sharing: SharingFlags,
    runtime: RuntimeFlags,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs the queries of WORKLOAD over an input.

    A bounded input is sorted by time as a whole. With --follow, events are sorted as far as
    --lateness allows. Invalid rows are counted and, with --output, kept in DIR/_dead_letter; late
    events are kept in DIR/_late.
    """
    check_flags(input, output, sharing, runtime)
    notices, listeners = _open_notices(quiet, runtime)
    declared = _read_schema(input.schema)
    request = RunRequest(workload, input, output, sharing, runtime, notices, listeners, declared)
    # Read before anything slow is loaded or started, so that errors are reported at once.
    queries = None if runtime.watch_workload else _read_queries(request)
    settings = _settings(request)
    with _opened_output(request):
        _run(request, queries, settings)


def _run(request: RunRequest, queries: Workload | None, settings: Settings) -> None:
    if request.runtime.engine is EngineName.LOCAL:
        assert queries is not None, "only a followed input can watch its workload"
        _run_locally(request, queries, settings)
    elif queries is not None:
        _run_on_ray(request, queries, settings)
    else:
        _run_watched(request, settings)


@dataclass(frozen=True)
class RunRequest:
    """What the user asks for, with the files that the options name."""

    path: Path
    input: InputFlags
    output: OutputFlags
    sharing: SharingFlags
    runtime: RuntimeFlags
    notices: Notices
    listeners: tuple[MetricsLogger, ...]
    declared: Schema | None

    @property
    def name(self) -> str:
        """Metrics and the registry of jobs take text only; the name of a file may be any bytes."""
        return self.runtime.name or with_bytes_escaped(self.path.stem)


# The functions below import what they need themselves: the engine takes a while to load, and
# `hamlet --help` does without it.


def _open_notices(quiet: bool, runtime: RuntimeFlags) -> tuple[Notices, tuple[MetricsLogger, ...]]:
    if runtime.log is None:
        return Notices(quiet), ()
    configure(runtime.log.value)
    return LoggedNotices(quiet), (MetricsLogger(),)


def _read_schema(path: Path | None) -> Schema | None:
    from runtime.types.schema import Schema

    return None if path is None else Schema.from_file(path)


def _read_queries(request: RunRequest) -> Workload:
    from hamlet.cli.workload import read_workload
    from runtime.language.schema_check import check_schema

    queries = read_workload(request.path)
    if request.declared is not None:
        check_schema(queries, request.declared)
    return queries


def _settings(request: RunRequest) -> Settings:
    from hamlet.cli.plan_file import read_plan
    from runtime.pipeline.settings import Settings

    output, sharing = request.output, request.sharing
    return Settings(
        output.numeric.value,
        output.ties.value,
        (sharing.sharing or Sharing.DYNAMIC).value,
        plan=None if sharing.plan is None else read_plan(sharing.plan),
        planner=chosen_planner(sharing, output.numeric),
    )


@contextmanager
def _opened_output(request: RunRequest) -> Iterator[None]:
    """Also removes what killed runs left in the output and among temporary files."""
    from actors.cluster_dir import remove_left_folders
    from runtime.io.atomic import output_folder, remove_unfinished

    remove_left_folders()
    folder = output_path(request.output.output)
    if folder is None:
        yield
        return
    with output_folder(folder):
        remove_unfinished(folder)
        yield


def _run_locally(request: RunRequest, queries: Workload, settings: Settings) -> None:
    from hamlet.cli.local import LocalInput, LocalMonitoring, LocalOutput, run_in_process
    from runtime.pipeline.routing_table import InputFormat

    input, output, runtime = request.input, request.output, request.runtime
    run_in_process(
        queries,
        settings,
        LocalInput(
            input.input,
            InputFormat(input.time_column, input.type_column, input.time_unit.value),
            _value(input.input_format),
            request.declared,
            input.follow_links,
        ),
        LocalOutput(output_path(output.output), chosen_format(output), output.limit),
        LocalMonitoring(
            request.name, request.listeners, runtime.metrics_port, runtime.metrics_host
        ),
        request.notices,
        request.sharing.explain_sharing,
    )


def _run_on_ray(request: RunRequest, queries: Workload, settings: Settings) -> None:
    from hamlet.cli.ray import OutputOptions, run_on_ray
    from spark_ingest.sinks.file_sink import RollingPolicy

    output = request.output
    run_on_ray(
        queries,
        _job_options(request, settings),
        request.input.options(request.input.input, queries, request.declared, request.notices),
        OutputOptions(
            output.output,
            chosen_format(output),
            output.limit,
            request.input.kafka_options,
            RollingPolicy(output.file_size_bytes, output.file_age_seconds),
        ),
        request.notices,
        request.sharing.explain_sharing,
    )


def _run_watched(request: RunRequest, settings: Settings) -> None:
    from hamlet.cli.watch_mode import run_watched

    run_watched(
        request.path,
        lambda: _read_queries(request),
        lambda queries: _run_on_ray(request, queries, settings),
        request.runtime.checkpoint,
        request.notices,
    )


def _job_options(request: RunRequest, settings: Settings) -> JobOptions:
    from hamlet.job.job_options import JobOptions
    from spark_ingest.session import SparkSize

    runtime = request.runtime
    return JobOptions(
        name=request.name,
        address=runtime.address,
        actors=runtime.actors,
        checkpoint=runtime.checkpoint,
        lateness=request.input.lateness_micros,
        size=SparkSize(runtime.spark_executors, runtime.spark_cores, runtime.spark_memory),
        settings=settings,
        metrics_port=runtime.metrics_port,
        metrics_host=runtime.metrics_host,
        watch=request.path if runtime.watch_workload else None,
        listeners=request.listeners,
    )


def _value(choice: DataFormat | None) -> str | None:
    return None if choice is None else choice.value
