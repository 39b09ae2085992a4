"""`hamlet run`: the queries of a file over an input."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from hamlet.cli import options
from hamlet.cli.choices import (
    DataFormat,
    EngineName,
    Numeric,
    OutputFormat,
    Sharing,
    Ties,
    TimeUnit,
)
from hamlet.cli.help import examples, prose
from hamlet.cli.notices import Notices
from runtime.errors import HamletError, InputError

INPUT, RESULTS = "Input", "Results"
EXAMPLES = examples(
    ("hamlet run queries.sase --input events.parquet", "results as tables"),
    (
        "hamlet run queries.sase --input events.csv --time-unit ms --output results",
        "a Parquet file for each query in the folder results",
    ),
    ("hamlet run queries.sase --input 'generate:stock?events=100000'", "over a generated stream"),
    (
        "zcat events.jsonl.gz | hamlet run queries.sase --input - --format json | jq .",
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
            help="A data file, a folder of them, [b]-[/b] for standard input, or a generated "
            "stream: [b]generate:NAME?events=N[/b].",
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
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="A folder for the results, a file for each query. Without it they are printed.",
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
    explain_sharing: Annotated[
        bool, typer.Option("--explain-sharing", help="Say at the end what was decided.")
    ] = False,
    engine: Annotated[
        EngineName,
        typer.Option(metavar="local", help="In this process, the only way so far."),
    ] = EngineName.LOCAL,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs the queries of WORKLOAD over an input.

    The input is put in order of time as a whole. Rows that are no events are counted and, with
    --output, kept in DIR/_dead_letter.
    """
    _check_engine(engine)
    given = {"--sharing": sharing, "--plan": plan, "--explain-sharing": explain_sharing or None}
    _check_sharing([name for name, value in given.items() if value is not None], numeric)
    chosen = _format(format, output)
    # Only now: the engine takes a while to load, and `hamlet --help` does without it.
    from hamlet.cli.compiling import watch_compiler
    from hamlet.cli.decisions import show_decisions
    from hamlet.cli.outputs import CountingSink, open_dead, open_sink
    from hamlet.cli.planning import read_plan
    from hamlet.cli.progress import bars
    from hamlet.cli.source import Generated, open_source
    from hamlet.cli.summary import tell
    from hamlet.cli.workload import read_workload
    from hamlet.run import run
    from runtime.engine import Engine
    from runtime.events import Schema
    from runtime.language.against_schema import check_schema

    queries = read_workload(workload)
    declared = None if schema is None else Schema.from_file(schema)
    if declared is not None:
        check_schema(queries, declared)
    running = Engine(
        queries,
        numeric=numeric.value,
        ties=ties.value,
        sharing=(sharing or Sharing.DYNAMIC).value,
        plan=None if plan is None else read_plan(plan),
        time_column=time_column,
        type_column=type_column,
        time_unit=time_unit.value,
    )
    notices = Notices(quiet)
    with ExitStack() as stack:
        source = stack.enter_context(
            open_source(
                input,
                format=None if input_format is None else input_format.value,
                uses=queries.uses,
                time_column=time_column,
                type_column=type_column,
                declared=declared,
            )
        )
        results = CountingSink(open_sink(stack, queries, output, chosen, limit))
        dead = open_dead(stack, output, chosen)
        total = source.events if isinstance(source, Generated) else None
        with bars(notices, total) as watcher, watch_compiler(watcher.compiling) as compiler:
            summary = run(running, source, results, dead, watcher)
        summary.compiling = compiler.seconds
    tell(notices, queries, summary, results.rows, output)
    if explain_sharing:
        show_decisions(notices, running.decisions())


def _check_engine(engine: EngineName) -> None:
    if engine is EngineName.RAY:
        raise HamletError(
            "--engine ray is not there yet: this version runs in one process",
            "leave --engine out, or say --engine local",
        )


def _check_sharing(given: list[str], numeric: Numeric) -> None:
    if given and numeric is Numeric.EXACT:
        raise HamletError(
            f"{given[0]} is for --numeric float: the exact engine evaluates every query by itself",
            f"leave out {given[0]}, or --numeric exact",
        )


def _format(wanted: OutputFormat | None, output: Path | None) -> OutputFormat:
    if wanted is None:
        return OutputFormat.TABLE if output is None else OutputFormat.PARQUET
    if wanted is OutputFormat.TABLE and output is not None:
        raise InputError("a table is for reading, not for a file", "--format parquet, csv or json")
    return wanted
