"""`hamlet run`: the queries of a file over an input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.durations import duration
from hamlet.cli.enums import (
    DataFormat,
    EngineName,
    LogFormat,
    Numeric,
    OutputFormat,
    Planner,
    Sharing,
    Ties,
    TimeUnit,
)
from hamlet.cli.help import examples, prose
from hamlet.cli.stderr import LoggedNotices, Notices
from hamlet.cli.submit_entrypoint import ADDRESS
from hamlet.logs import Logged, configure
from runtime.errors import HamletError, InputError

if TYPE_CHECKING:
    from runtime.language.query import Workload

INPUT, RESULTS, RUNTIME = "Input", "Results", "Runtime"
EXAMPLES = examples(
    ("hamlet run queries.sase --input events.parquet", "results as tables"),
    (
        "hamlet run queries.sase --input events.csv --time-unit ms --output results",
        "a Parquet file for each query in the folder results",
    ),
    ("hamlet run queries.sase --input 'generate:stock?events=100000'", "over a generated stream"),
    (
        "hamlet run queries.sase --input incoming/ --follow --lateness 10s --output results "
        "--checkpoint state",
        "a folder that files appear in; the same command goes on after a crash",
    ),
    ("hamlet run queries.sase --input kafka://broker:9092/rides --follow", "a topic"),
    (
        "zcat events.jsonl.gz | hamlet run queries.sase --input - --engine local --format json | "
        "jq .",
        "in a pipe: one JSON object a row, with the name of its query",
    ),
    ("hamlet run queries.sase --input events/ --numeric exact", "a folder of files, every digit"),
)


def register(app: typer.Typer) -> None:
    app.command("run", help=prose(command), epilog=EXAMPLES)(command)


def command(
    workload: options.Workload,
    input: Annotated[
        str,
        typer.Option(
            "--input",
            "-i",
            metavar="INPUT",
            help="A data file, a folder of them, [b]-[/b] for standard input, "
            "[b]kafka://HOST/TOPIC[/b], [b]socket://HOST:PORT[/b], or a generated stream: "
            "[b]generate:NAME?events=N[/b].",
            rich_help_panel=INPUT,
        ),
    ],
    input_format: Annotated[
        DataFormat | None,
        typer.Option(help="Where the name does not tell.", rich_help_panel=INPUT),
    ] = None,
    time_column: Annotated[
        str, typer.Option(help="The column with the time.", rich_help_panel=INPUT)
    ] = "time",
    type_column: Annotated[
        str, typer.Option(help="The column with the event type.", rich_help_panel=INPUT)
    ] = "type",
    time_unit: Annotated[
        TimeUnit, typer.Option(help="Of times that are integers.", rich_help_panel=INPUT)
    ] = TimeUnit.S,
    schema: options.SchemaFile = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="A folder for the results, a file for each query (with --follow a folder), or "
            "[b]kafka://HOST/TOPIC[/b]. Without it they are printed.",
            rich_help_panel=RESULTS,
        ),
    ] = None,
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            help="[b]table[/b], or with --output [b]parquet[/b], if not given.",
            rich_help_panel=RESULTS,
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Rows shown of a table; 0 for all.", rich_help_panel=RESULTS
        ),
    ] = 20,
    numeric: Annotated[
        Numeric,
        typer.Option(
            help="[b]float[/b]: 53 bits at any size; [b]exact[/b]: every digit.",
            rich_help_panel=RESULTS,
        ),
    ] = Numeric.FLOAT,
    ties: options.Ties = Ties.STRICT,
    sharing: Annotated[
        Sharing | None,
        typer.Option(
            help="What queries have in common is computed together: [b]dynamic[/b]: where it "
            "pays, burst by burst, if not given; [b]always[/b]; [b]never[/b]. The results are "
            "the same."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="YAML that says what may be shared: longer parts, groups of queries, windows.",
        ),
    ] = None,
    planner: Annotated[
        Planner | None,
        typer.Option(
            help="Who decides what queries may share at all, and again when the stream changes: "
            "[b]auto[/b]: by the shape of the workload, if not given; [b]greedy[/b]: what begins "
            "alike; [b]sharon[/b]: parts of sequences; [b]gloria[/b]: transitions of all "
            "patterns; [b]none[/b]: every query by itself. The results are the same."
        ),
    ] = None,
    explain_sharing: Annotated[
        bool, typer.Option("--explain-sharing", help="Say at the end what was decided.")
    ] = False,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="[b]ray[/b]: on Ray and Spark; [b]local[/b]: in this process, bounded inputs "
            "only. The results are the same.",
            rich_help_panel=RUNTIME,
        ),
    ] = EngineName.RAY,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Go on reading what comes, until Ctrl-C. Windows close when the watermark "
            "passes their end.",
            rich_help_panel=INPUT,
        ),
    ] = False,
    watch_workload: Annotated[
        bool,
        typer.Option(
            "--watch-workload",
            help="With --follow: look at WORKLOAD every few seconds. Queries that appear in it are "
            "added, those that are gone are removed. A mistake in it ends nothing.",
            rich_help_panel=RUNTIME,
        ),
    ] = False,
    lateness: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="With --follow: how far events may be behind the newest one, such as 10s or "
            "500ms. Those further behind are late.",
            rich_help_panel=INPUT,
        ),
    ] = "0s",
    kafka_options: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Properties for Kafka, such as sasl.username; ${NAME} is taken from the "
            "environment.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    avro_schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The .avsc of Kafka values that are Avro, not JSON.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    avro_confluent: Annotated[
        bool,
        typer.Option(
            "--avro-confluent",
            help="Avro values begin with the five bytes of Confluent's serializers.",
            rich_help_panel=INPUT,
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            help="What `hamlet query` knows the job by; the name of WORKLOAD, if not given.",
            rich_help_panel=RUNTIME,
        ),
    ] = None,
    actors: Annotated[
        int,
        typer.Option(min=1, help="How many aggregators.", rich_help_panel=RUNTIME),
    ] = 2,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the state is kept: a folder, or a URI such as s3://bucket/path. The same "
            "command goes on from there.",
            rich_help_panel=RUNTIME,
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="PORT",
            help="Serve metrics for Prometheus and a live page on this port; 0: any that is free. "
            "With --follow they are served in any case.",
            rich_help_panel=RUNTIME,
        ),
    ] = None,
    metrics_host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help="Who may look: 127.0.0.1 for this machine alone, 0.0.0.0 for all that reach it.",
            rich_help_panel=RUNTIME,
        ),
    ] = "127.0.0.1",
    log: Annotated[
        LogFormat | None,
        typer.Option(
            help="Write what happens to standard error as lines of a log: epochs, decisions, "
            "re-plans, restarts; as text or JSON.",
            rich_help_panel=RUNTIME,
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            envvar=ADDRESS,
            help="A Ray cluster to run on, instead of one that is started for this run.",
            rich_help_panel=RUNTIME,
        ),
    ] = None,
    spark_executors: Annotated[
        int, typer.Option(min=1, help="Executors of Spark.", rich_help_panel=RUNTIME)
    ] = 1,
    spark_cores: Annotated[
        int, typer.Option(min=1, help="Cores of each of them.", rich_help_panel=RUNTIME)
    ] = 2,
    spark_memory: Annotated[
        str, typer.Option(help="Memory of each of them.", rich_help_panel=RUNTIME)
    ] = "1g",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs the queries of WORKLOAD over an input.

    A bounded input is put in order of time as a whole; with --follow, events are put in order as
    far as --lateness allows. Rows that are no events are counted and, with --output, kept in
    DIR/_dead_letter, late ones in DIR/_late.
    """
    given = {
        "--sharing": sharing,
        "--plan": plan,
        "--planner": planner,
        "--explain-sharing": explain_sharing or None,
    }
    _check_sharing([name for name, value in given.items() if value is not None], numeric)
    planning = _planner(planner, plan, sharing, numeric)
    if watch_workload and not follow:
        raise HamletError(
            "--watch-workload is for --follow: a bounded input is read with the queries given",
            "leave out --watch-workload, or add --follow",
        )
    chosen = _format(format, output)
    micros = duration(lateness)
    # Only now: the engine takes a while to load, and `hamlet --help` does without it.
    from hamlet.cli.plan_file import read_plan
    from hamlet.cli.workload import read_workload
    from runtime.language.schema_check import check_schema
    from runtime.pipeline.shard import Settings
    from runtime.types.schema import Schema

    declared = None if schema is None else Schema.from_file(schema)

    def read() -> Workload:
        queries = read_workload(workload)
        if declared is not None:
            check_schema(queries, declared)
        return queries

    # Before all that takes a while to load, so that a mistake is told at once.
    given_queries = None if watch_workload else read()
    settings = Settings(
        numeric.value,
        ties.value,
        (sharing or Sharing.DYNAMIC).value,
        plan=None if plan is None else read_plan(plan),
        planner=planning,
    )
    notices = Notices(quiet)
    shows: tuple[Logged, ...] = ()
    if log is not None:
        configure(log.value)
        notices, shows = LoggedNotices(quiet), (Logged(),)
    if engine is EngineName.LOCAL:
        _check_local(
            {
                "--follow": follow,
                "--checkpoint": checkpoint,
                "--address": address if address != os.environ.get(ADDRESS) else None,
                "--lateness": micros,
                "--kafka-options": kafka_options,
                "--avro-schema": avro_schema,
            }
        )
        from hamlet.cli.local import Metrics, run_in_process

        assert given_queries is not None, "only a stream is watched"
        run_in_process(
            given_queries,
            settings,
            input,
            None if input_format is None else input_format.value,
            (time_column, type_column, time_unit.value),
            declared,
            None if output is None else Path(output),
            chosen,
            limit,
            notices,
            explain_sharing,
            name or workload.stem,
            None if metrics_port is None else Metrics(metrics_port, metrics_host),
            shows,
        )
        return
    from hamlet.cli.ray import Output, run_on_ray
    from hamlet.cli.watch_mode import run_watched
    from hamlet.job import input_resolver
    from hamlet.job.job_setup import Asked
    from runtime.io.reader import Needs
    from spark_ingest.session import SparkSize

    def run(queries: Workload) -> None:
        run_on_ray(
            queries,
            Asked(
                name=name or workload.stem,
                address=address,
                actors=actors,
                checkpoint=checkpoint,
                lateness=micros,
                size=SparkSize(spark_executors, spark_cores, spark_memory),
                settings=settings,
                metrics_port=metrics_port,
                metrics_host=metrics_host,
                watch=workload if watch_workload else None,
                shows=shows,
            ),
            input_resolver.Asked(
                input,
                Needs(time_column, type_column, queries.uses, declared or Schema({})),
                follow=follow,
                format=None if input_format is None else input_format.value,
                unit=time_unit.value,
                kafka_options=kafka_options,
                avro=avro_schema,
                avro_framed=avro_confluent,
                wait=notices.say,
            ),
            Output(output, chosen, limit, kafka_options),
            notices,
            explain_sharing,
        )

    if given_queries is None:
        run_watched(workload, read, run, checkpoint, notices)
    else:
        run(given_queries)


def _check_local(given: dict[str, object]) -> None:
    for name, value in given.items():
        if value:
            raise HamletError(
                f"{name} is for --engine ray: in this process, inputs are bounded",
                f"leave out {name}, or --engine local",
            )


def _check_sharing(given: list[str], numeric: Numeric) -> None:
    if given and numeric is Numeric.EXACT:
        raise HamletError(
            f"{given[0]} is for --numeric float: the exact engine evaluates every query by itself",
            f"leave out {given[0]}, or --numeric exact",
        )


def _planner(
    wanted: Planner | None, plan: Path | None, sharing: Sharing | None, numeric: Numeric
) -> str | None:
    """Nothing is planned where a plan is given, or where nothing is shared."""
    if wanted is not None:
        for name, given in (("--plan", plan), ("--sharing never", sharing is Sharing.NEVER)):
            if given:
                raise HamletError(
                    f"--planner and {name} exclude each other", f"leave out --planner, or {name}"
                )
    if plan is not None or sharing is Sharing.NEVER or numeric is Numeric.EXACT:
        return None
    return (wanted or Planner.AUTO).value


def _format(wanted: OutputFormat | None, output: str | None) -> OutputFormat:
    if wanted is None:
        return OutputFormat.TABLE if output is None else OutputFormat.PARQUET
    if wanted is OutputFormat.TABLE and output is not None:
        raise InputError("a table is for reading, not for a file", "--format parquet, csv or json")
    return wanted
