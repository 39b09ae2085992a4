"""`hamlet top`: shows a running job in the terminal."""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from collections import deque
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from hamlet.cli import options
from hamlet.cli.enums import TopFormat
from hamlet.cli.help import examples, prose
from hamlet.cli.query import JobName
from hamlet.cli.text_table import print_table
from runtime.errors import HamletError

if TYPE_CHECKING:
    from hamlet.cli.metrics_view import SnapshotJson

REFRESH_SECONDS, TIMEOUT_SECONDS = 1.0, 5.0
RECENT = 6  # snapshots over which rates are computed
ROWS = 10  # of each table when printed once
EXAMPLES = examples(
    ("hamlet top", "watch the running job"),
    ("hamlet top --once", "print once"),
    ("hamlet top --format json | jq .queries", "for scripts"),
    ("hamlet top --url http://127.0.0.1:9464", "a run with --metrics-port, or on another machine"),
)


def register(app: typer.Typer) -> None:
    app.command("top", help=prose(command), epilog=EXAMPLES)(command)


def command(
    job: JobName = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Address of the live page, if the job is not on this machine."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit.")] = False,
    format: Annotated[
        TopFormat, typer.Option(help="[b]json[/b]: all metrics, once.")
    ] = TopFormat.TABLE,
    debug: options.Debug = False,
) -> None:
    """Shows a running job: events, latency by query, sharing decisions.

    Shows the same as the live page, and updates once a second until Ctrl-C. Prints once if the
    output is not a terminal.
    """
    address = _address(job, url)
    if format is TopFormat.JSON:
        typer.echo(json.dumps(_fetch(address)))
    elif once or not sys.stdout.isatty():
        _print_once(_fetch(address))
    else:
        _watch(address)


def _address(job: str | None, url: str | None) -> str:
    if url is not None:
        return (url if "://" in url else f"http://{url}").rstrip("/")
    from hamlet.job.job_registry import find

    found = find(job)
    if not found.hub:
        raise HamletError(f"`{found.name}` serves no metrics", "give its address with --url")
    return found.hub


def _fetch(address: str) -> SnapshotJson | None:
    if not address.startswith(("http://", "https://")):
        raise HamletError(
            f"{address} is not the address of a live page", "--url http://127.0.0.1:PORT"
        )
    try:
        with urllib.request.urlopen(f"{address}/metrics.json", timeout=TIMEOUT_SECONDS) as response:
            found: Any = json.load(response)
    except (OSError, ValueError) as error:
        raise HamletError(
            f"no answer from {address}", "has the job ended? its terminal shows the address"
        ) from error
    if found is not None and (not isinstance(found, dict) or "queries" not in found):
        raise HamletError(f"{address} is not the live page of a job")
    return found


def _print_once(snapshot: SnapshotJson | None) -> None:
    from hamlet.cli.metrics_view import view

    if snapshot is None:
        typer.echo("the job is starting")
        return
    for place, table in enumerate(view(snapshot, None, ROWS)):
        if place:
            typer.echo()
        print_table(table)


# ---- on a terminal -------------------------------------------------------------------------


def _watch(address: str) -> None:
    """Runs until Ctrl-C. A job that has ended is shown in its last state."""
    console = Console()
    recent: deque[SnapshotJson] = deque(maxlen=RECENT)
    trouble = ""
    _fetch(address)  # a wrong address is an error at once
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                try:
                    snapshot = _fetch(address)
                except HamletError as error:
                    trouble = f"{error}; retrying"
                else:
                    trouble = "" if snapshot else "the job is starting"
                    if snapshot and (not recent or recent[-1]["time"] < snapshot["time"]):
                        recent.append(snapshot)
                live.update(render_screen(recent, trouble, console.size.height), refresh=True)
                time.sleep(REFRESH_SECONDS)
    except KeyboardInterrupt:
        return


def render_screen(recent: deque[SnapshotJson], trouble: str, height: int) -> RenderableType:
    from hamlet.cli.metrics_view import view

    parts: list[RenderableType] = [Text(trouble, "bold red")] if trouble else []
    if recent:
        before = recent[0] if len(recent) > 1 else None
        for table in view(recent[-1], before, max(2, (height - 22) // 2)):
            if table.title:
                parts.append(Text.assemble((table.title[0], "bold"), f"  {table.title[1]}"))
            parts.append(table.table())
    return Group(*parts)
