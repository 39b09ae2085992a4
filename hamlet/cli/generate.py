"""`hamlet generate`: a made-up stream, to a file or a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.enums import DataFormat
from hamlet.cli.help import examples, prose
from hamlet.cli.stderr import Notices, many
from hamlet.cli.text_table import Grid, show
from runtime.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from hamlet.cli.progress import Bars

STDOUT = "-"
EXAMPLES = examples(
    ("hamlet generate --list", "which streams there are"),
    ("hamlet generate ridesharing --events 5", "a first look, as CSV"),
    ("hamlet generate stock --events 1000000 --seed 7 --output stock.parquet", "a file"),
    (
        "hamlet generate ridesharing --events 50000 --burst 20 --share Travel=0.6 -o rides.csv",
        "long runs, and more travel than usual",
    ),
)


def register(app: typer.Typer) -> None:
    app.command("generate", help=prose(command), epilog=EXAMPLES)(command)


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The stream; --list shows which.")
    ] = None,
    events: Annotated[int, typer.Option(min=0, metavar="N", help="How many.")] = 10_000,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="A file, or - for a pipe.")
    ] = STDOUT,
    format: Annotated[
        DataFormat | None,
        typer.Option(help="What the name of the --output says; [b]csv[/b] in a pipe."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The same seed gives the same events.")
    ] = 0,
    rate: Annotated[float | None, typer.Option(help="Events a minute.")] = None,
    burst: Annotated[float | None, typer.Option(help="Mean length of a run of one type.")] = None,
    groups: Annotated[int | None, typer.Option(help="Number of partitions.")] = None,
    share: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE=PART", help="A type's part of the events; as often as needed."),
    ] = None,
    start: Annotated[
        str | None, typer.Option(metavar="TIME", help="Such as 2026-03-01T12:00:00Z.")
    ] = None,
    list_streams: Annotated[
        bool, typer.Option("--list", help="List the streams and their defaults.")
    ] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Writes a generated stream of events.

    The same parameters give the same events, and a longer stream starts with the shorter one.
    """
    from hamlet.cli.event_writer import write_events
    from hamlet.cli.progress import bars
    from runtime.generate import generate, schema, streams

    if list_streams:
        _list()
        return
    if name is None:
        raise InputError("which stream?", f"one of {', '.join(streams())}; see --list")
    chosen = format or _by_name(output)
    batches = generate(
        name,
        events=events,
        seed=seed,
        rate=rate,
        burst=burst,
        groups=groups,
        share=_shares(share or []),
        start=start,
    )
    path = None if output == STDOUT else Path(output)
    notices = Notices(quiet)
    with bars(notices, events) as watcher:
        write_events(_watched(batches, watcher), schema(name), path, chosen.value)
    if path is not None:
        notices.say(f"{many(events, 'event')} written to {path}")


def _watched(batches: Iterable[pa.RecordBatch], watcher: Bars) -> Iterable[pa.RecordBatch]:
    for batch in batches:
        yield batch
        watcher.read(batch.num_rows)


def _by_name(output: str) -> DataFormat:
    if output == STDOUT:
        return DataFormat.CSV
    suffix = Path(output).suffix.lower()
    found = {
        ".parquet": DataFormat.PARQUET,
        ".pq": DataFormat.PARQUET,
        ".csv": DataFormat.CSV,
        ".json": DataFormat.JSON,
        ".jsonl": DataFormat.JSON,
        ".ndjson": DataFormat.JSON,
        ".arrow": DataFormat.ARROW,
        ".ipc": DataFormat.ARROW,
        ".feather": DataFormat.ARROW,
    }.get(suffix)
    if found is None:
        known = "parquet, csv, json or arrow"
        raise InputError(f"the name {output} does not tell the format", f"--format {known}")
    return found


def _shares(given: list[str]) -> dict[str, float]:
    """`Travel=0.6`, also several with commas."""
    shares: dict[str, float] = {}
    for part in (part for text in given for part in text.split(",")):
        name, equals, value = part.partition("=")
        name = name.strip()
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise InputError(f"--share is `{part}`", "expected TYPE=PART, such as Travel=0.6")
        if name in shares:
            raise InputError(f"--share names `{name}` twice")
        shares[name] = number
    return shares


def _list() -> None:
    from runtime.generate import streams

    names = ("name", "events", "partitions", "groups", "a minute", "burst")
    rows = [
        (
            name,
            info.description,
            ", ".join(info.partition),
            f"{info.groups:,}",
            f"{info.rate:,.0f}",
            f"{info.burst:g}",
        )
        for name, info in streams().items()
    ]
    show(Grid.of(names, rows, right={"groups", "a minute", "burst"}))
    typer.echo("\nTypes")
    for name, info in streams().items():
        typer.echo(f" {name}: {', '.join(info.types)}")
