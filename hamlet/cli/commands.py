"""Puts the `hamlet` command together from its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from hamlet.cli import bench, check, explain, generate, query, report, run, stop, submit, top
from hamlet.cli.exit_codes import HamletGroup
from hamlet.cli.help import examples

app = typer.Typer(
    name="hamlet",
    cls=HamletGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from hamlet import __version__

        typer.echo(f"hamlet {__version__}")
        raise typer.Exit


@app.callback(
    epilog=examples(
        ("hamlet check queries.sase", "check queries for errors"),
        ("hamlet explain queries.sase", "show how they will be evaluated"),
        ("hamlet run queries.sase --input events.parquet", "run them over a file"),
        ("hamlet generate ridesharing --events 5", "print a generated stream"),
    )
)
def hamlet(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Aggregates event trends: sequences of events that match a pattern."""


run.register(app)
query.register(app)
top.register(app)
report.register(app)
check.register(app)
explain.register(app)
generate.register(app)
bench.register(app)
submit.register(app)
stop.register(app)
