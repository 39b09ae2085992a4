"""`hamlet query`: lists, adds and removes queries of a running job."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli import options
from hamlet.cli.help import examples, prose
from hamlet.cli.stderr import Notices
from hamlet.cli.text_table import TextTable
from runtime.errors import InputError

if TYPE_CHECKING:
    from runtime.language.query import Query, Window

JobName = Annotated[
    str | None,
    typer.Option("--job", metavar="NAME", help="The job, if several are running."),
]
LIST = ("hamlet query list", "the queries of the running job")
ADD = ("hamlet query add more.sase", "add these queries")
REMOVE = ("hamlet query remove trips", "remove this query")


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    group.command("list", help=prose(list_queries), epilog=examples(LIST))(list_queries)
    group.command("add", help=prose(add), epilog=examples(ADD))(add)
    group.command("remove", help=prose(remove), epilog=examples(REMOVE))(remove)
    app.add_typer(
        group,
        name="query",
        help="Lists, adds and removes queries of a running job.",
        epilog=examples(LIST, ADD, REMOVE),
    )


def list_queries(job: JobName = None, debug: options.Debug = False) -> None:
    """Lists the queries of a running job."""
    from hamlet.job.control_client import connect
    from hamlet.job.job_registry import find

    with connect(find(job)) as client:
        rows = [(each["name"], each["pattern"]) for each in client.queries()]
    for text in TextTable.of(("query", "pattern"), rows, set()).texts(terminal=False):
        typer.echo(text, nl=False)


def add(workload: options.WorkloadFile, job: JobName = None, debug: options.Debug = False) -> None:
    """Adds the queries of WORKLOAD to a running job.

    They report windows that start after every event that the job has seen. The other queries are
    not affected.
    """
    from hamlet.cli.workload import read_workload
    from hamlet.job.control_client import connect
    from hamlet.job.job_registry import find

    queries = read_workload(workload)  # reports errors with their line and column
    text, notices = _text(workload), Notices()
    with connect(find(job)) as client:
        answer = client.change({"add": text, "file": str(workload)}, notices.say)
    added = ", ".join(answer["added"])
    notices.say(
        f"added {added} with epoch {answer['epoch']}{first_windows(queries, answer['since'])}"
    )


def remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The queries to remove.")],
    job: JobName = None,
    debug: options.Debug = False,
) -> None:
    """Removes queries from a running job. Their open windows are dropped."""
    from hamlet.job.control_client import connect
    from hamlet.job.job_registry import find

    notices = Notices()
    with connect(find(job)) as client:
        answer = client.change({"remove": names}, notices.say)
    notices.say(f"removed {', '.join(answer['removed'])} with epoch {answer['epoch']}")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def first_windows(queries: Iterable[Query], since: int | None) -> str:
    """Says where the first windows start that come after all events seen so far. Queries are named
    if they differ in it."""
    if since is None:
        return ""
    said: dict[str, list[str]] = {}
    for query in queries:
        said.setdefault(_first_window(query.window, since), []).append(query.name)
    if len(said) == 1:
        return f", {next(iter(said))}"
    return "; " + "; ".join(f"{', '.join(names)}: {first}" for first, names in said.items())


def _first_window(window: Window, since: int) -> str:
    if window.counted:
        return "from the next event on"
    return f"windows from {_iso_time(window.start(window.first_from(since)))} on"


def _iso_time(micros: int) -> str:
    try:
        return datetime.fromtimestamp(micros / 1e6, UTC).isoformat()
    except (ValueError, OverflowError):
        return f"{micros} us"
