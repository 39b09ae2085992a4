"""Arguments and options that more than one command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hamlet.cli.enums import Planner as PlannerChoice
from hamlet.cli.enums import Ties as TiesChoice
from hamlet.cli.exit_codes import remember_debug

Workload = Annotated[
    Path, typer.Argument(metavar="WORKLOAD", help="A file of queries, such as queries.sase.")
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="What events look like: a data file, or YAML of types and their attributes.",
        rich_help_panel="Input",
    ),
]
Planner = Annotated[
    PlannerChoice,
    typer.Option(
        help="Who decides what queries may share at all: [b]auto[/b]: by the shape of the "
        "workload; [b]greedy[/b]: what begins alike; [b]sharon[/b]: parts of sequences; "
        "[b]gloria[/b]: transitions of all patterns; [b]none[/b]: every query by itself. "
        "The results are the same."
    ),
]
Ties = Annotated[
    TiesChoice,
    typer.Option(
        help="Events of equal time: [b]strict[/b]: never neighbours; [b]arrival[/b]: in the "
        "order they come."
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=remember_debug, help="Show the traceback of an error."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but results and errors.")]
