"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hamlet.cli.enums import PlannerChoice, TiesChoice
from hamlet.cli.exit_codes import remember_debug

WorkloadFile = Annotated[
    Path, typer.Argument(metavar="WORKLOAD", help="A query file, such as queries.sase.")
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="The schema of events: a data file, or YAML with types and their attributes.",
        rich_help_panel="Input",
    ),
]
Planner = Annotated[
    PlannerChoice,
    typer.Option(
        help="Plans what queries may share: [b]auto[/b]: chosen by the shape of the workload; "
        "[b]greedy[/b]: common prefixes; [b]sharon[/b]: parts of sequences; [b]gloria[/b]: "
        "transitions of all patterns; [b]none[/b]: share nothing. The results are the same."
    ),
]
Ties = Annotated[
    TiesChoice,
    typer.Option(
        help="Events with equal times: [b]strict[/b]: none of them follows another; "
        "[b]arrival[/b]: they follow each other in the order of arrival.",
        rich_help_panel="Results",
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=remember_debug, help="Show the traceback of an error."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]
