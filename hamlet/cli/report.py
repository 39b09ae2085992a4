"""`hamlet report`: writes an HTML report about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hamlet.cli import options
from hamlet.cli.help import examples, prose
from hamlet.cli.stderr import Notices

EXAMPLES = examples(
    (
        "hamlet run queries.sase --input events.parquet --output results",
        "a run writes a log next to its results",
    ),
    ("hamlet report results", "write report.html from that log"),
)


def register(app: typer.Typer) -> None:
    app.command("report", help=prose(command), epilog=EXAMPLES)(command)


def command(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The --output folder of a run, or its _run.jsonl.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")
    ] = Path("report.html"),
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Writes an HTML report about a run: decisions over time, the cost model, the slowest queries.

    The file is self-contained, so you can send it to somebody. A report about a running job covers
    it up to now.
    """
    from runtime.io.atomic import AtomicFiles
    from runtime.report.log_reader import read_history
    from runtime.report.report_page import report

    notices = Notices(quiet)
    history = read_history(run)
    for note in history.notes:
        notices.warn(note)
    files = AtomicFiles()
    try:
        with files.open(output) as file:
            file.write(report(history).encode())
        files.publish()
    finally:
        files.discard()
    notices.say(f"written to {output}")
