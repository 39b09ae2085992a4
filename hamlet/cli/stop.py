"""`hamlet stop`: ends a job on a Ray cluster as its own Ctrl-C would."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from actors.log_redirect import logged_to
from hamlet.cli import options
from hamlet.cli.durations import duration
from hamlet.cli.help import examples, prose
from hamlet.cli.ray_dashboard import Address, check_address, spoken, stop_called
from hamlet.cli.stderr import Notices
from runtime.errors import Failure

EXAMPLES = examples(
    (
        "hamlet stop rides --address http://head:8265 --within 1m",
        "when the epochs under way are done; submitted again, it goes on from its checkpoint",
    ),
)


def register(app: typer.Typer) -> None:
    app.command("stop", help=prose(command), epilog=EXAMPLES)(command)


def command(
    name: Annotated[str, typer.Argument(help="As `hamlet submit --name` called the job.")],
    address: Address,
    within: Annotated[
        str, typer.Option(metavar="TIME", help="How long to wait for the end of the job.")
    ] = "1m",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Stops a job on a Ray cluster that `hamlet submit` has named.

    The job finishes its epochs, for which it has as long as `hamlet submit --stop-within` said.
    It is no mistake if there is no such job.
    """
    notices = Notices(quiet)
    check_address(address)
    limit_s = duration(within) / 1e6
    from ray.job_submission import JobSubmissionClient  # takes a second, and sets up its loggers

    with spoken(address), logged_to(Path(os.devnull), "ray"):
        ended = stop_called(JobSubmissionClient(address), name, limit_s, notices)
    if not ended:
        notices.say(f"no job called {name} is running")
    for job, in_time in ended.items():
        if not in_time:
            raise Failure(f"job {job} has not ended within {within}", "it has been told to")
