"""`hamlet check`: reports every error in a query file."""

from __future__ import annotations

import typer

from hamlet.cli import options
from hamlet.cli.help import examples, prose
from hamlet.cli.text_table import TextTable, print_table

EXAMPLES = examples(
    ("hamlet check queries.sase", "check syntax, names and windows"),
    (
        "hamlet check queries.sase --schema events.parquet",
        "check against the columns of a data file, too",
    ),
    ("hamlet check queries.sase --schema types.yaml", "or against declared event types"),
)


def register(app: typer.Typer) -> None:
    app.command("check", help=prose(command), epilog=EXAMPLES)(command)


def command(
    workload: options.WorkloadFile,
    schema: options.SchemaFile = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Reports every error in WORKLOAD, with its line and column.

    The exit code is 1 if there is an error.
    """
    from hamlet.cli.workload import read_schema, read_workload
    from runtime.language.ast import describe
    from runtime.plan.explain import phrases

    queries = read_workload(workload)
    if schema is not None:
        read_schema(schema, queries)
    if quiet:
        return
    names = ("query", "pattern", "windows", "partitions")
    rows = [
        (
            query.name,
            describe(query.pattern),
            phrases.window(query.window),
            ", ".join(query.partition_by) or "-",
        )
        for query in queries
    ]
    print_table(TextTable.of(names, rows, right=set()))
    count = len(rows)
    typer.echo(f"{count} {'query' if count == 1 else 'queries'}, no errors")
