"""`hamlet query`: the queries of a running job."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.help import examples, prose
from hamlet.cli.stderr import Notices
from hamlet.cli.text_table import Grid
from runtime.errors import InputError

if TYPE_CHECKING:
    from runtime.language.query import Query, Window

JobName = Annotated[
    str | None,
    typer.Option("--job", metavar="NAME", help="Which job, if more than one is running."),
]
EXAMPLES = examples(
    ("hamlet query list", "what does the running job count?"),
    ("hamlet query add more.sase", "count these as well, from now on"),
    ("hamlet query remove trips", "no longer count this one"),
)


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    group.command("list", help=prose(listed))(listed)
    group.command("add", help=prose(add))(add)
    group.command("remove", help=prose(remove))(remove)
    app.add_typer(
        group,
        name="query",
        help="Adds queries to a running job, and removes and lists them.",
        epilog=EXAMPLES,
    )


def listed(job: JobName = None, debug: options.Debug = False) -> None:
    """Lists the queries of a running job."""
    from hamlet.job.control_client import asking
    from hamlet.job.job_registry import find

    with asking(find(job)) as asked:
        rows = [(each["name"], each["pattern"]) for each in asked.queries()]
    for text in Grid.of(("query", "pattern"), rows, set()).texts(terminal=False):
        typer.echo(text, nl=False)


def add(workload: options.Workload, job: JobName = None, debug: options.Debug = False) -> None:
    """Adds the queries of WORKLOAD to a running job.

    They report windows that start after every event that the job has seen. Other queries go on
    undisturbed.
    """
    from hamlet.cli.workload import read_workload
    from hamlet.job.control_client import asking
    from hamlet.job.job_registry import find

    queries = read_workload(workload)  # so that a mistake is told with its place
    text = _text(workload)
    with asking(find(job)) as asked:
        answer = asked.change({"add": text, "file": str(workload)})
    added = ", ".join(answer["added"])
    Notices().say(f"added {added} with epoch {answer['epoch']}{counted(queries, answer['since'])}")


def remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Queries of the job.")],
    job: JobName = None,
    debug: options.Debug = False,
) -> None:
    """Removes queries from a running job. Their open windows are dropped."""
    from hamlet.job.control_client import asking
    from hamlet.job.job_registry import find

    with asking(find(job)) as asked:
        answer = asked.change({"remove": names})
    Notices().say(f"removed {', '.join(answer['removed'])} with epoch {answer['epoch']}")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def counted(queries: Iterable[Query], since: int | None) -> str:
    """From when on: the start of the first window that begins after all that was seen, of each
    query by itself where they differ."""
    if since is None:
        return ""
    said: dict[str, list[str]] = {}
    for query in queries:
        said.setdefault(_first(query.window, since), []).append(query.name)
    if len(said) == 1:
        return f", {next(iter(said))}"
    return "; " + "; ".join(f"{', '.join(names)}: {first}" for first, names in said.items())


def _first(window: Window, since: int) -> str:
    if window.counted:
        return "from the next event on"
    return f"windows from {_shown(window.start(window.first_from(since)))} on"


def _shown(micros: int) -> str:
    try:
        return datetime.fromtimestamp(micros / 1e6, UTC).isoformat()
    except (ValueError, OverflowError):
        return f"{micros} us"
