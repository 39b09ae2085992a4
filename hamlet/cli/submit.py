"""`hamlet submit`: a command as a job on a Ray cluster, as if it ran here."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actors.quiet import logged_to
from hamlet.cli import options
from hamlet.cli.exits import FAILURE, exit_with
from hamlet.cli.help import examples, prose
from hamlet.cli.job import MARK, Log
from hamlet.cli.notices import Notices
from runtime.errors import HamletError

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

EXAMPLES = examples(
    (
        "hamlet submit --address http://head:8265 -- run queries.sase --input events.parquet",
        "run it on the cluster; what it prints is printed here, and its exit code is ours",
    ),
    (
        "RAY_AUTH_MODE=token hamlet submit --address http://head:8265 -- check queries.sase",
        "with the token of RAY_AUTH_TOKEN, or of a file, as `ray job submit` takes it",
    ),
)
_POLL_S = 1.0
_STOPPING_S = 15


def register(app: typer.Typer) -> None:
    app.command("submit", help=prose(command), epilog=EXAMPLES)(command)


def command(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND", help="A command of hamlet, with its options."),
    ],
    address: Annotated[
        str,
        typer.Option(
            metavar="URL",
            envvar="RAY_API_SERVER_ADDRESS",
            help="Of the cluster's dashboard, such as http://head:8265.",
        ),
    ],
    working_dir: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="The folder that is uploaded, in which the command runs; a .rayignore file "
            "in it says what to leave out.",
        ),
    ] = Path(),
    python: Annotated[
        str, typer.Option(help="The Python on the cluster that Hamlet is installed for.")
    ] = "python",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs a hamlet command as a job on a Ray cluster.

    Uploads the working folder, waits for the job, shows what it prints, and ends with its exit
    code. Ctrl-C stops the job. Hamlet must be installed on the cluster.
    """
    notices = Notices(quiet)
    if not address.startswith(("http://", "https://")):
        raise HamletError(
            f"{address} is no address to submit to", "give that of the dashboard: http://HOST:8265"
        )
    from ray.job_submission import JobSubmissionClient  # takes a second, and sets up its loggers

    mark = f"hamlet-{secrets.token_hex(8)}"
    with _spoken(address), logged_to(Path(os.devnull), "ray"):
        client = JobSubmissionClient(address)
        job = client.submit_job(
            entrypoint=shlex.join([python, "-m", "hamlet.cli.job", *arguments]),
            runtime_env={"working_dir": str(working_dir), "env_vars": {MARK: mark}},
        )
        notices.say(f"job {job} on {address}")
        log = Log(mark, _write)
        try:
            _follow(client, job, log)
        except KeyboardInterrupt:
            notices.say(f"stopping job {job}")
            client.stop_job(job)
            _await_end(client, job, _STOPPING_S)
            _catch_up(client, job, log)
            raise
        info = client.get_job_info(job)
    if log.code is None:  # it was killed, or did not even start
        said = " ".join((info.message or "").split())
        typer.echo(f"error: job {job} did not come to its end: {said}", err=True)
    raise exit_with(FAILURE if log.code is None else log.code)


def _follow(client: JobSubmissionClient, job: str, log: Log) -> None:
    """Until the job has ended. Following can stop early: then its state is asked for."""
    while not client.get_job_status(job).is_terminal():
        with suppress(RuntimeError):
            asyncio.run(_tail(client, job, log))
        _await_end(client, job, _POLL_S)
    _catch_up(client, job, log)


async def _tail(client: JobSubmissionClient, job: str, log: Log) -> None:
    """Following starts from the beginning each time; what was shown is passed over."""
    seen = 0
    async for text in client.tail_job_logs(job):
        new = text[max(0, log.length - seen) :]
        seen += len(text)
        if new:
            log.feed(new)


def _catch_up(client: JobSubmissionClient, job: str, log: Log) -> None:
    log.feed(client.get_job_logs(job)[log.length :])
    log.end()


def _await_end(client: JobSubmissionClient, job: str, limit_s: float) -> None:
    give_up = time.monotonic() + limit_s
    while not client.get_job_status(job).is_terminal() and time.monotonic() < give_up:
        time.sleep(0.2)


def _write(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


@contextmanager
def _spoken(address: str) -> Iterator[None]:
    """Ray's errors in our words."""
    from ray.exceptions import AuthenticationError

    try:
        yield
    except ConnectionError as error:
        raise HamletError(
            f"cannot reach a Ray cluster at {address}", "is that the address of its dashboard?"
        ) from error
    except AuthenticationError as error:
        raise HamletError(
            f"the cluster at {address} wants a token, and has got none or a wrong one",
            "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH",
        ) from error
    except RuntimeError as error:
        raise HamletError(f"the cluster at {address} refused: {error}") from error
