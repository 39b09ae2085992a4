"""The options of `hamlet run`, a group for each panel of its help. Other commands share some."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.durations import parse_duration, parse_size
from hamlet.cli.enums import (
    DataFormat,
    EngineName,
    LogFormat,
    Numeric,
    OutputFormat,
    PlannerChoice,
    Sharing,
    TiesChoice,
    TimeUnit,
)
from hamlet.cli.job_log import ADDRESS
from hamlet.cli.stderr import Notices

if TYPE_CHECKING:
    from hamlet.job.resolved_input import InputOptions
    from runtime.language.query import Workload
    from runtime.types.schema import Schema

INPUT, RESULTS, SHARING, RUNTIME = "Input", "Results", "Sharing", "Runtime"


_INPUT = typer.Option(
    "--input",
    "-i",
    metavar="INPUT",
    help="A data file, a folder of data files, [b]-[/b] for standard input, "
    "[b]kafka://HOST/TOPIC[/b], [b]socket://HOST:PORT[/b], any format of Spark: "
    "[b]spark:FORMAT?option=value[/b], or a generated stream: "
    "[b]generate:NAME?events=N[/b]. CSV with line breaks in quotes needs "
    "[b]?multiline=true[/b] behind the file or folder.",
    rich_help_panel=INPUT,
)


@dataclass(frozen=True, kw_only=True)
class ReadFlags:
    """An input, if one is given, and how to read it."""

    input: Annotated[str | None, _INPUT] = None
    input_format: Annotated[
        DataFormat | None,
        typer.Option(help="Needed if the file name does not show it.", rich_help_panel=INPUT),
    ] = None
    time_column: Annotated[
        str, typer.Option(help="The column with the time.", rich_help_panel=INPUT)
    ] = "time"
    type_column: Annotated[
        str, typer.Option(help="The column with the event type.", rich_help_panel=INPUT)
    ] = "type"
    time_unit: Annotated[
        TimeUnit, typer.Option(help="The unit of integer times.", rich_help_panel=INPUT)
    ] = TimeUnit.S
    schema: options.SchemaFile = None
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links",
            help="Follow links in an input folder to wherever they lead. Without it, links out of "
            "the folder are skipped.",
            rich_help_panel=INPUT,
        ),
    ] = False
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Keep reading new data until Ctrl-C. A window closes when the watermark passes "
            "its end.",
            rich_help_panel=INPUT,
        ),
    ] = False
    kafka_options: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Kafka properties such as sasl.username; ${NAME} is replaced by the environment "
            "variable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    spark_options: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With [b]spark:[/b]: further options of the source, such as password=${NAME}, "
            "which is replaced by the environment variable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    avro_schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The .avsc schema of Kafka values in Avro. Without it they are JSON.",
            rich_help_panel=INPUT,
        ),
    ] = None
    avro_confluent: Annotated[
        bool,
        typer.Option(
            "--avro-confluent",
            help="Avro values start with the five-byte header of Confluent's serializers.",
            rich_help_panel=INPUT,
        ),
    ] = False

    def options(
        self, text: str, queries: Workload, declared: Schema | None, notices: Notices
    ) -> InputOptions:
        """What the queries need of the input `text`."""
        from hamlet.job.resolved_input import InputOptions
        from runtime.io.reader import ReadRequest
        from runtime.types.schema import Schema

        schema = declared or Schema({})
        return InputOptions(
            text,
            ReadRequest(self.time_column, self.type_column, queries.uses, schema),
            follow=self.follow,
            format=None if self.input_format is None else self.input_format.value,
            unit=self.time_unit.value,
            kafka_options=self.kafka_options,
            spark_options=self.spark_options,
            avro=self.avro_schema,
            avro_framed=self.avro_confluent,
            follow_links=self.follow_links,
            wait=notices.say,
            warn=notices.warn,
        )


@dataclass(frozen=True, kw_only=True)
class InputFlags(ReadFlags):
    """An input that must be given, and how far its events may be out of order."""

    input: Annotated[str, _INPUT] = field()
    lateness: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="With --follow: how far an event may be behind the newest one, such as 10s or "
            "500ms. Events further behind are late.",
            rich_help_panel=INPUT,
        ),
    ] = "0s"

    @property
    def lateness_micros(self) -> int:
        return parse_duration(self.lateness)


@dataclass(frozen=True)
class OutputFlags:
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="A folder for the results, with a file for each query (with --follow, a folder), "
            "or [b]kafka://HOST/TOPIC[/b]. Without it, results are printed.",
            rich_help_panel=RESULTS,
        ),
    ] = None
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            help="The default is [b]table[/b], with --output [b]parquet[/b].",
            rich_help_panel=RESULTS,
        ),
    ] = None
    limit: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="How many rows of a table to show; 0 for all.",
            rich_help_panel=RESULTS,
        ),
    ] = 20
    file_age: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="With --follow and a folder: a result waits at most this long for others that go "
            "into the same file. 0s writes a file in every epoch that has results.",
            rich_help_panel=RESULTS,
        ),
    ] = "10s"
    file_size: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="With --follow and a folder: results of this size are written at once, such as "
            "16MB.",
            rich_help_panel=RESULTS,
        ),
    ] = "128MB"
    numeric: Annotated[
        Numeric,
        typer.Option(
            help="[b]float[/b]: 53 bits of precision at any magnitude; [b]exact[/b]: every digit.",
            rich_help_panel=RESULTS,
        ),
    ] = Numeric.FLOAT
    ties: options.Ties = TiesChoice.STRICT

    @property
    def file_age_seconds(self) -> float:
        return parse_duration(self.file_age) / 1e6

    @property
    def file_size_bytes(self) -> int:
        return parse_size(self.file_size)


@dataclass(frozen=True)
class SharingFlags:
    """How queries share work. None of them changes the results."""

    sharing: Annotated[
        Sharing | None,
        typer.Option(
            help="Whether queries compute together what they have in common: [b]dynamic[/b] "
            "(default): if it pays, decided for each burst; [b]always[/b]; [b]never[/b]. The "
            "results are the same.",
            rich_help_panel=SHARING,
        ),
    ] = None
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A YAML file that says what may be shared: subpatterns, groups of queries, "
            "windows.",
            rich_help_panel=SHARING,
        ),
    ] = None
    planner: Annotated[
        PlannerChoice | None,
        typer.Option(
            help="Plans what queries may share, and re-plans when the stream changes: [b]auto[/b] "
            "(default): chosen by the shape of the workload; [b]greedy[/b]: common prefixes; "
            "[b]sharon[/b]: parts of sequences; [b]gloria[/b]: transitions of all patterns; "
            "[b]none[/b]: share nothing. The results are the same.",
            rich_help_panel=SHARING,
        ),
    ] = None
    explain_sharing: Annotated[
        bool,
        typer.Option(
            "--explain-sharing",
            help="At the end, show what was decided.",
            rich_help_panel=SHARING,
        ),
    ] = False


@dataclass(frozen=True)
class RuntimeFlags:
    engine: Annotated[
        EngineName,
        typer.Option(
            help="[b]ray[/b]: on Ray and Spark; [b]local[/b]: in this process, for bounded inputs "
            "only. The results are the same.",
            rich_help_panel=RUNTIME,
        ),
    ] = EngineName.RAY
    watch_workload: Annotated[
        bool,
        typer.Option(
            "--watch-workload",
            help="With --follow: check WORKLOAD every few seconds. New queries are added, missing "
            "ones removed. If it has an error, the job keeps its queries.",
            rich_help_panel=RUNTIME,
        ),
    ] = False
    name: Annotated[
        str | None,
        typer.Option(
            help="The name by which `hamlet query` finds the job. The default is the name of "
            "WORKLOAD.",
            rich_help_panel=RUNTIME,
        ),
    ] = None
    actors: Annotated[
        int, typer.Option(min=1, help="The number of aggregators.", rich_help_panel=RUNTIME)
    ] = 2
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to keep the state: a folder, or a URI such as s3://bucket/path. The same "
            "command resumes from there.",
            rich_help_panel=RUNTIME,
        ),
    ] = None
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="PORT",
            help="Serve Prometheus metrics and a live page on this port; 0 for any free port. "
            "With --follow they are always served.",
            rich_help_panel=RUNTIME,
        ),
    ] = None
    metrics_host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help="The address to serve them on: 127.0.0.1 for this machine only, 0.0.0.0 for "
            "everyone who can reach it.",
            rich_help_panel=RUNTIME,
        ),
    ] = "127.0.0.1"
    log: Annotated[
        LogFormat | None,
        typer.Option(
            help="Log epochs, decisions, re-plans and restarts to standard error, as text or JSON.",
            rich_help_panel=RUNTIME,
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            envvar=ADDRESS,
            help="A running Ray cluster. Without it, one is started for this run.",
            rich_help_panel=RUNTIME,
        ),
    ] = None
    spark_executors: Annotated[
        int, typer.Option(min=1, help="The number of Spark executors.", rich_help_panel=RUNTIME)
    ] = 1
    spark_cores: Annotated[
        int, typer.Option(min=1, help="The cores of each executor.", rich_help_panel=RUNTIME)
    ] = 2
    spark_memory: Annotated[
        str, typer.Option(help="The memory of each executor.", rich_help_panel=RUNTIME)
    ] = "1g"
