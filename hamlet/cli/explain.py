"""`hamlet explain`: how queries will be evaluated, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hamlet.cli import options
from hamlet.cli.enums import ExplainFormat, Planner, Ties
from hamlet.cli.help import examples, prose

EXAMPLES = examples(
    ("hamlet explain queries.sase", "as text"),
    ("hamlet explain queries.sase --output template.svg", "the merged template as a picture"),
    ("hamlet explain queries.sase --format json | jq .operators", "for programs"),
)


def register(app: typer.Typer) -> None:
    app.command("explain", help=prose(command), epilog=EXAMPLES)(command)


def command(
    workload: options.Workload,
    format: Annotated[
        ExplainFormat | None,
        typer.Option(help="[b]text[/b], or what the name of the --output says."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")
    ] = None,
    planner: options.Planner = Planner.AUTO,
    ties: options.Ties = Ties.STRICT,
    debug: options.Debug = False,
) -> None:
    """Shows how the queries of WORKLOAD will be evaluated, and why.

    That is: what each of them keeps, which of them belong together, the plan by which they share,
    beside what other planners come to, and the merged template.
    """
    from hamlet.cli.workload import read_workload, write_text
    from runtime.io.stdout import Stdout
    from runtime.plan.explain import explain

    explanation = explain(read_workload(workload), ties.value, planner.value)
    chosen = format or _by_name(output)
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


def _by_name(output: Path | None) -> ExplainFormat:
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    known = {each.value: each for each in ExplainFormat}
    return known.get(suffix, ExplainFormat.TEXT)
