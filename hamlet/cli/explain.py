"""`hamlet explain`: shows how queries will be evaluated, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hamlet.cli import options
from hamlet.cli.enums import ExplainFormat, PlannerChoice, TiesChoice
from hamlet.cli.help import examples, prose

EXAMPLES = examples(
    ("hamlet explain queries.sase", "as text"),
    (
        "hamlet explain queries.sase --schema events.parquet",
        "with the operators for the columns of a data file",
    ),
    ("hamlet explain queries.sase --output template.svg", "the merged template as a picture"),
    ("hamlet explain queries.sase --format json | jq .operators", "for programs"),
)


def register(app: typer.Typer) -> None:
    app.command("explain", help=prose(command), epilog=EXAMPLES)(command)


def command(
    workload: options.WorkloadFile,
    format: Annotated[
        ExplainFormat | None,
        typer.Option(
            help="The default is [b]text[/b], or the format that the name of --output shows."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")
    ] = None,
    schema: options.SchemaFile = None,
    planner: options.Planner = PlannerChoice.AUTO,
    ties: options.Ties = TiesChoice.STRICT,
    debug: options.Debug = False,
) -> None:
    """Shows how the queries of WORKLOAD will be evaluated, and why.

    Shows the state that each query keeps, the groups of queries that share, the sharing plan and
    how other planners compare, and the merged template. The choice of operators depends on the
    types of attributes: without --schema, they are assumed from the queries.
    """
    from hamlet.cli.workload import read_schema, read_workload, write_text
    from runtime.io.stdout import Stdout
    from runtime.plan.explain import explain

    queries = read_workload(workload)
    types = read_schema(schema, queries).data_types() if schema is not None else None
    explanation = explain(queries, planner=planner.value, ties=ties.value, types=types)
    chosen = format or _format_of(output)
    text = {
        ExplainFormat.TEXT: explanation.text,
        ExplainFormat.JSON: explanation.json,
        ExplainFormat.DOT: explanation.dot,
        ExplainFormat.SVG: explanation.svg,
    }[chosen]()
    text = text if text.endswith("\n") else text + "\n"
    if output is not None:
        write_text(output, text)
        return
    stdout = Stdout()
    stdout.write(text.encode())
    stdout.flush()


def _format_of(output: Path | None) -> ExplainFormat:
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    known = {each.value: each for each in ExplainFormat}
    return known.get(suffix, ExplainFormat.TEXT)
