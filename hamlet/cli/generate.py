"""`hamlet generate`: writes a generated stream to a file or a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.enums import DataFormat
from hamlet.cli.flag_groups import ungrouped
from hamlet.cli.help import examples, prose
from hamlet.cli.stderr import Notices, pluralize
from hamlet.cli.text_table import TextTable, print_table
from runtime.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from hamlet.cli.progress import ProgressBars

STDOUT = "-"
EXAMPLES = examples(
    ("hamlet generate --list", "list the streams"),
    ("hamlet generate ridesharing --events 5", "a first look, as CSV"),
    ("hamlet generate stock --events 1000000 --seed 7 --output stock.parquet", "a file"),
    (
        "hamlet generate ridesharing --events 50000 --burst 20 --share Travel=0.6 -o rides.csv",
        "long bursts, and more Travel events",
    ),
)


def register(app: typer.Typer) -> None:
    app.command("generate", help=prose(command), epilog=EXAMPLES)(ungrouped(command))


@dataclass(frozen=True)
class StreamFlags:
    events: Annotated[int, typer.Option(min=0, metavar="N", help="The number of events.")] = 10_000
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The same seed gives the same events.")
    ] = 0
    rate: Annotated[float | None, typer.Option(help="Events per minute.")] = None
    burst: Annotated[
        float | None, typer.Option(help="The mean length of a run of events of one type.")
    ] = None
    groups: Annotated[int | None, typer.Option(help="The number of partitions.")] = None
    share: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE=PART", help="The part of the events that have this type; repeatable."
        ),
    ] = None
    start: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The first time, such as 2026-03-01T12:00:00Z."),
    ] = None

    def generate(self, name: str) -> Iterable[pa.RecordBatch]:
        from runtime.generate import generate

        return generate(
            name,
            events=self.events,
            seed=self.seed,
            rate=self.rate,
            burst=self.burst,
            groups=self.groups,
            share=_parse_shares(self.share or []),
            start=self.start,
        )


def command(
    stream: StreamFlags,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The stream; --list shows all.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="A file, or - for a pipe.")
    ] = STDOUT,
    format: Annotated[
        DataFormat | None,
        typer.Option(help="The default is what the name of --output shows; [b]csv[/b] in a pipe."),
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
    if list_streams:
        _list_streams()
    else:
        _write(stream, name, output, format or _format_of(output), Notices(quiet))


def _write(
    stream: StreamFlags, name: str | None, output: str, format: DataFormat, notices: Notices
) -> None:
    from hamlet.cli.event_writer import write_events
    from hamlet.cli.progress import progress_bars
    from runtime.generate import schema, streams

    if name is None:
        raise InputError("which stream?", f"one of {', '.join(streams())}; see --list")
    batches = stream.generate(name)
    path = None if output == STDOUT else Path(output)
    with progress_bars(notices, stream.events) as watcher:
        write_events(_watched(batches, watcher), schema(name), path, format.value)
    if path is not None:
        notices.say(f"{pluralize(stream.events, 'event')} written to {path}")


def _watched(batches: Iterable[pa.RecordBatch], watcher: ProgressBars) -> Iterable[pa.RecordBatch]:
    for batch in batches:
        yield batch
        watcher.read(batch.num_rows)


def _format_of(output: str) -> DataFormat:
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
        raise InputError(f"the name {output} does not show the format", f"--format {known}")
    return found


def _parse_shares(given: list[str]) -> dict[str, float]:
    """Parses `Travel=0.6`, or several with commas between them."""
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


def _list_streams() -> None:
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
    print_table(TextTable.of(names, rows, right={"groups", "a minute", "burst"}))
    typer.echo("\nTypes")
    for name, info in streams().items():
        typer.echo(f" {name}: {', '.join(info.types)}")
