"""`hamlet top`: what a running job does, in the terminal."""

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
from hamlet.cli.text_table import show
from runtime.errors import HamletError

if TYPE_CHECKING:
    from hamlet.cli.metrics_view import Facts

EVERY_SECONDS, PATIENCE_SECONDS = 1.0, 5.0
RECENT = 6  # looks, by which rates are told
ROWS = 10  # of each table in a snapshot
EXAMPLES = examples(
    ("hamlet top", "what does the running job do?"),
    ("hamlet top --once", "one look"),
    ("hamlet top --format json | jq .queries", "for programs"),
    ("hamlet top --url http://127.0.0.1:9464", "a run with --metrics-port, or elsewhere"),
)


def register(app: typer.Typer) -> None:
    app.command("top", help=prose(command), epilog=EXAMPLES)(command)


def command(
    job: JobName = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where the live page is, of a job that is not found by its name."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="One look, then end.")] = False,
    format: Annotated[
        TopFormat, typer.Option(help="[b]json[/b]: all facts, once.")
    ] = TopFormat.TABLE,
    debug: options.Debug = False,
) -> None:
    """Shows what a running job does: events, latency by query, decisions about sharing.

    The same facts as on its live page, once a second until Ctrl-C; once where nobody watches.
    """
    address = _address(job, url)
    if format is TopFormat.JSON:
        typer.echo(json.dumps(_asked(address)))
    elif once or not sys.stdout.isatty():
        _snapshot(_asked(address))
    else:
        _watch(address)


def _address(job: str | None, url: str | None) -> str:
    if url is not None:
        return (url if "://" in url else f"http://{url}").rstrip("/")
    from hamlet.job.job_registry import find

    found = find(job)
    if not found.hub:
        raise HamletError(f"`{found.name}` shows nothing", "name its address with --url")
    return found.hub


def _asked(address: str) -> Facts | None:
    if not address.startswith(("http://", "https://")):
        raise HamletError(f"{address} is no address of a live page", "--url http://127.0.0.1:PORT")
    try:
        with urllib.request.urlopen(f"{address}/metrics.json", timeout=PATIENCE_SECONDS) as answer:
            found: Any = json.load(answer)
    except (OSError, ValueError) as error:
        raise HamletError(
            f"nobody answers at {address}", "has the job ended? its terminal says where the page is"
        ) from error
    if found is not None and (not isinstance(found, dict) or "queries" not in found):
        raise HamletError(f"{address} is not the live page of a job")
    return found


def _snapshot(facts: Facts | None) -> None:
    from hamlet.cli.metrics_view import view

    if facts is None:
        typer.echo("the job is starting")
        return
    for place, grid in enumerate(view(facts, None, ROWS)):
        if place:
            typer.echo()
        show(grid)


# ---- on a terminal -------------------------------------------------------------------------


def _watch(address: str) -> None:
    """Until Ctrl-C. A job that has ended is shown as it was last."""
    console = Console()
    recent: deque[Facts] = deque(maxlen=RECENT)
    trouble = ""
    _asked(address)  # a mistake in the address is told at once
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                try:
                    facts = _asked(address)
                except HamletError as error:
                    trouble = f"{error}; asking again"
                else:
                    trouble = "" if facts else "the job is starting"
                    if facts and (not recent or recent[-1]["time"] < facts["time"]):
                        recent.append(facts)
                live.update(screen(recent, trouble, console.size.height), refresh=True)
                time.sleep(EVERY_SECONDS)
    except KeyboardInterrupt:
        return


def screen(recent: deque[Facts], trouble: str, height: int) -> RenderableType:
    from hamlet.cli.metrics_view import view

    parts: list[RenderableType] = [Text(trouble, "bold red")] if trouble else []
    if recent:
        before = recent[0] if len(recent) > 1 else None
        for grid in view(recent[-1], before, max(2, (height - 22) // 2)):
            if grid.title:
                parts.append(Text.assemble((grid.title[0], "bold"), f"  {grid.title[1]}"))
            parts.append(grid.table())
    return Group(*parts)
