"""`hamlet top`: shows the metrics of a running job in the terminal."""

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
    from hamlet.cli.metrics_view import MetricsSnapshot

REFRESH_SECONDS, TIMEOUT_SECONDS = 1.0, 5.0
RECENT = 6  # refreshes over which rates are averaged
ROWS = 10  # of each table in a snapshot
EXAMPLES = examples(
    ("hamlet top", "watch the running job"),
    ("hamlet top --once", "print it once"),
    ("hamlet top --format json | jq .queries", "print JSON"),
    ("hamlet top --url http://127.0.0.1:9464", "a run with --metrics-port, or on another machine"),
)


def register(app: typer.Typer) -> None:
    app.command("top", help=prose(command), epilog=EXAMPLES)(command)


def command(
    job: JobName = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The URL of the live page, for a job on another machine."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit.")] = False,
    format: Annotated[
        TopFormat, typer.Option(help="[b]json[/b]: print all metrics once.")
    ] = TopFormat.TABLE,
    debug: options.Debug = False,
) -> None:
    """Shows a running job: events, latency by query, decisions about sharing.

    Shows the metrics of its live page, refreshed every second until Ctrl-C. Prints them once if the
    output is not a terminal.
    """
    address = _address(job, url)
    if format is TopFormat.JSON:
        typer.echo(json.dumps(_fetch(address)))
    elif once or not sys.stdout.isatty():
        _snapshot(_fetch(address))
    else:
        _watch(address)


def _address(job: str | None, url: str | None) -> str:
    if url is not None:
        return (url if "://" in url else f"http://{url}").rstrip("/")
    from hamlet.job.job_registry import find

    found = find(job)
    if not found.hub:
        raise HamletError(f"`{found.name}` has no live page", "give its address with --url")
    return found.hub


def _fetch(address: str) -> MetricsSnapshot | None:
    if not address.startswith(("http://", "https://")):
        raise HamletError(f"{address} is not a URL", "--url http://127.0.0.1:PORT")
    try:
        with urllib.request.urlopen(f"{address}/metrics.json", timeout=TIMEOUT_SECONDS) as answer:
            found: Any = json.load(answer)
    except (OSError, ValueError) as error:
        raise HamletError(
            f"nothing answers at {address}", "has the job ended? its terminal shows the URL"
        ) from error
    if found is not None and (not isinstance(found, dict) or "queries" not in found):
        raise HamletError(f"{address} is not the live page of a job")
    return found


def _snapshot(facts: MetricsSnapshot | None) -> None:
    from hamlet.cli.metrics_view import view

    if facts is None:
        typer.echo("the job is starting")
        return
    for place, table in enumerate(view(facts, None, ROWS)):
        if place:
            typer.echo()
        print_table(table)


# ---- on a terminal -------------------------------------------------------------------------


def _watch(address: str) -> None:
    """Refreshes until Ctrl-C. Of a job that has ended, the last state stays visible."""
    console = Console()
    recent: deque[MetricsSnapshot] = deque(maxlen=RECENT)
    trouble = ""
    _fetch(address)  # reports a wrong address at once
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                try:
                    facts = _fetch(address)
                except HamletError as error:
                    trouble = f"{error}; retrying"
                else:
                    trouble = "" if facts else "the job is starting"
                    if facts and (not recent or recent[-1]["time"] < facts["time"]):
                        recent.append(facts)
                live.update(render_screen(recent, trouble, console.size.height), refresh=True)
                time.sleep(REFRESH_SECONDS)
    except KeyboardInterrupt:
        return


def render_screen(recent: deque[MetricsSnapshot], trouble: str, height: int) -> RenderableType:
    from hamlet.cli.metrics_view import view

    parts: list[RenderableType] = [Text(trouble, "bold red")] if trouble else []
    if recent:
        before = recent[0] if len(recent) > 1 else None
        for table in view(recent[-1], before, max(2, (height - 22) // 2)):
            if table.title:
                parts.append(Text.assemble((table.title[0], "bold"), f"  {table.title[1]}"))
            parts.append(table.table())
    return Group(*parts)
