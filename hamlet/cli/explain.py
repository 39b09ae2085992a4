"""`hamlet explain`: shows how queries will be evaluated, and why."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.enums import ExplainFormat, PlannerChoice, TiesChoice
from hamlet.cli.flag_groups import ungrouped
from hamlet.cli.help import examples, prose
from hamlet.cli.run_flags import ReadFlags
from hamlet.cli.stderr import Notices, one_line
from runtime.errors import HamletError

if TYPE_CHECKING:
    from hamlet.job.input_plan import InputPlan
    from runtime.language.query import Workload
    from runtime.types.schema import Schema

EXAMPLES = examples(
    ("hamlet explain queries.sase", "as text"),
    (
        "hamlet explain queries.sase --schema events.parquet",
        "with the operators for the columns of a data file",
    ),
    (
        "hamlet explain queries.sase --input events.csv",
        "also with the plan by which Spark reads the file",
    ),
    ("hamlet explain queries.sase --output template.svg", "the merged template as a picture"),
    ("hamlet explain queries.sase --format json | jq .operators", "for programs"),
)


def register(app: typer.Typer) -> None:
    app.command("explain", help=prose(command), epilog=EXAMPLES)(ungrouped(command))


def command(
    workload: options.WorkloadFile,
    input: ReadFlags,
    format: Annotated[
        ExplainFormat | None,
        typer.Option(
            help="The default is [b]text[/b], or the format that the name of --output shows."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")
    ] = None,
    planner: options.Planner = PlannerChoice.AUTO,
    ties: options.Ties = TiesChoice.STRICT,
    debug: options.Debug = False,
) -> None:
    """Shows how the queries of WORKLOAD will be evaluated, and why.

    Shows the state that each query keeps, the groups of queries that share, the sharing plan and
    how other planners compare, and the merged template. The choice of operators depends on the
    types of attributes: without --input or --schema, they are assumed from the queries. With
    --input, also shows the plan by which Spark reads it.
    """
    from hamlet.cli.workload import read_schema, read_workload, write_text
    from runtime.io.stdout import Stdout
    from runtime.plan.explain import InputSection, explain

    _check_flags(input)
    queries = read_workload(workload)
    declared = None if input.schema is None else read_schema(input.schema, queries)
    found = _input_plan(input, queries, declared)
    types = None if declared is None else declared.data_types()
    known = types if found is None else found.schema
    explanation = explain(queries, planner=planner.value, ties=ties.value, types=known)
    if found is not None:
        section = InputSection(found.name, _printable(found.text))
        explanation = replace(explanation, input=section)
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


def _check_flags(input: ReadFlags) -> None:
    """A schema says something without an input, too."""
    for flag in fields(input):
        given = getattr(input, flag.name) != flag.default
        if given and input.input is None and flag.name != "schema":
            name = f"--{flag.name.replace('_', '-')}"
            raise HamletError(f"{name} is for --input", f"add --input, or leave out {name}")


def _input_plan(input: ReadFlags, queries: Workload, declared: Schema | None) -> InputPlan | None:
    if input.input is None:
        return None
    from hamlet.job.input_plan import plan_input

    return plan_input(queries, input.options(input.input, queries, declared, Notices()))


def _printable(plan: str) -> str:
    """Spark's plans have the control characters of literals as they are."""
    return "\n".join(map(one_line, plan.split("\n")))


def _format_of(output: Path | None) -> ExplainFormat:
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    known = {each.value: each for each in ExplainFormat}
    return known.get(suffix, ExplainFormat.TEXT)
