"""`hamlet stop`: stops a job on a Ray cluster, as Ctrl-C would."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from actors.log_redirect import logged_to
from hamlet.cli import options
from hamlet.cli.durations import parse_duration
from hamlet.cli.help import examples, prose
from hamlet.cli.ray_dashboard import Address, check_address, ray_errors, stop_jobs_named
from hamlet.cli.stderr import Notices
from runtime.errors import Failure

EXAMPLES = examples(
    (
        "hamlet stop rides --address http://head:8265 --within 1m",
        "after its pending epochs; if submitted again, it resumes from its checkpoint",
    ),
)


def register(app: typer.Typer) -> None:
    app.command("stop", help=prose(command), epilog=EXAMPLES)(command)


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name given to `hamlet submit --name`.")
    ],
    address: Address,
    within: Annotated[
        str, typer.Option(metavar="TIME", help="How long to wait for the end of the job.")
    ] = "1m",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Stops a job on a Ray cluster by the name that `hamlet submit` gave it.

    The job has as long as `hamlet submit --stop-within` said to finish its epochs. It is not an
    error if there is no such job.
    """
    notices = Notices(quiet)
    check_address(address)
    limit_s = parse_duration(within) / 1e6
    from ray.job_submission import JobSubmissionClient  # takes a second, and sets up its loggers

    with ray_errors(address), logged_to(Path(os.devnull), "ray"):
        ended = stop_jobs_named(JobSubmissionClient(address), name, limit_s, notices)
    if not ended:
        notices.say(f"no job called {name} is running")
    for job, in_time in ended.items():
        if not in_time:
            raise Failure(f"job {job} has not ended within {within}", "it was requested to stop")
