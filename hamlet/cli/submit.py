"""`hamlet submit`: a command as a job on a Ray cluster, as if it ran here."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from actors.log_redirect import logged_to
from actors.sigterm import TERMINATED
from hamlet.cli import options
from hamlet.cli.durations import duration
from hamlet.cli.exit_codes import FAILURE, exit_with
from hamlet.cli.help import examples, prose
from hamlet.cli.ray_dashboard import NAME, Address, await_end, check_address, spoken, stop_called
from hamlet.cli.stderr import Notices
from hamlet.cli.submit_entrypoint import MARK, Log

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

EXAMPLES = examples(
    (
        "hamlet submit --address http://head:8265 -- run queries.sase --input events.parquet",
        "run it on the cluster; what it prints is printed here, and its exit code is ours",
    ),
    (
        "hamlet submit --address http://head:8265 --name rides --no-upload -- "
        "run /shared/rides.sase --input /shared/events",
        "of what is on the cluster already; a job called rides that still runs is stopped first",
    ),
    (
        "RAY_AUTH_MODE=token hamlet submit --address http://head:8265 -- check queries.sase",
        "with the token of RAY_AUTH_TOKEN, or of a file, as `ray job submit` takes it",
    ),
)
_POLL_S = 1.0
# How long Ray waits between SIGTERM and SIGKILL, if the job's environment does not say it.
_STOP_WAIT = "RAY_JOB_STOP_WAIT_TIME_S"
_STARTING = "No available agent"
Answer = TypeVar("Answer")


class _Terminated(BaseException):
    """SIGTERM: the job is to end, and to tell how."""


def register(app: typer.Typer) -> None:
    app.command("submit", help=prose(command), epilog=EXAMPLES)(command)


def command(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND", help="A command of hamlet, with its options."),
    ],
    address: Address,
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
    no_upload: Annotated[
        bool,
        typer.Option(
            "--no-upload", help="Upload nothing: all that the command names is on the cluster."
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            help="Only one job of this name runs: one that is still there is stopped first."
        ),
    ] = None,
    wait: Annotated[
        str,
        typer.Option(metavar="TIME", help="How long to wait for a cluster that is starting."),
    ] = "0s",
    stop_within: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="How long a job that is stopped may take to finish its epochs."
        ),
    ] = "15s",
    python: Annotated[
        str, typer.Option(help="The Python on the cluster that Hamlet is installed for.")
    ] = "python",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs a hamlet command as a job on a Ray cluster.

    Uploads the working folder, waits for the job, shows what it prints, and ends with its exit
    code. Ctrl-C and SIGTERM stop the job. Hamlet must be installed on the cluster.
    """
    notices = Notices(quiet)
    check_address(address)
    from ray.job_submission import JobSubmissionClient  # takes a second, and sets up its loggers

    patience_s, stopping_s = duration(wait) / 1e6, max(1, round(duration(stop_within) / 1e6))
    mark = f"hamlet-{secrets.token_hex(8)}"
    environment = {"env_vars": {MARK: mark, _STOP_WAIT: str(stopping_s)}}
    with spoken(address), logged_to(Path(os.devnull), "ray"), _termination():
        patience = _Patience(patience_s, f"waiting for the cluster at {address}", notices)
        client = patience.have(lambda: JobSubmissionClient(address))
        if name is not None:  # who submitted it may have been killed, and could not stop it
            stop_called(client, name, stopping_s + _POLL_S, notices)
        entrypoint = shlex.join([python, "-m", "hamlet.cli.submit_entrypoint", *arguments])
        job = patience.have(
            lambda: client.submit_job(
                entrypoint=entrypoint,
                runtime_env=environment | ({} if no_upload else {"working_dir": str(working_dir)}),
                metadata={} if name is None else {NAME: name},
            )
        )
        notices.say(f"job {job} on {address}")
        log = Log(mark, _write)
        try:
            _follow(client, job, log)
        except (KeyboardInterrupt, _Terminated) as asked:
            notices.say(f"stopping job {job}")
            client.stop_job(job)
            await_end(client, job, stopping_s)
            _catch_up(client, job, log)
            if isinstance(asked, KeyboardInterrupt):
                raise
        info = client.get_job_info(job)
    if log.code is None:  # it was killed, or did not even start
        said = " ".join((info.message or "").split())
        typer.echo(f"error: job {job} did not come to its end: {said}", err=True)
    raise exit_with(FAILURE if log.code is None else log.code)


class _Patience:
    """Asks again while a cluster is starting: first nobody answers, then Ray's dashboard does, and
    has no one yet to run a job."""

    def __init__(self, seconds: float, told: str, notices: Notices) -> None:
        self._until = time.monotonic() + seconds
        self._told: str | None = told
        self._notices = notices

    def have(self, ask: Callable[[], Answer]) -> Answer:
        while True:
            try:
                return ask()
            except (OSError, RuntimeError) as error:
                starting = isinstance(error, OSError) or _STARTING in str(error)
                if not starting or time.monotonic() > self._until:
                    raise
            if self._told is not None:
                self._notices.say(self._told)
                self._told = None
            time.sleep(_POLL_S)


@contextmanager
def _termination() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except _Terminated:  # there is no job yet
        raise typer.Exit(TERMINATED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def _follow(client: JobSubmissionClient, job: str, log: Log) -> None:
    """Until the job has ended. Following can stop early: then its state is asked for."""
    while not client.get_job_status(job).is_terminal():
        with suppress(RuntimeError):
            asyncio.run(_tail_until_end(client, job, log))
        await_end(client, job, _POLL_S)
    _catch_up(client, job, log)


async def _tail_until_end(client: JobSubmissionClient, job: str, log: Log) -> None:
    """A connection may say nothing of the job's end, so that is asked for, too."""
    tail = asyncio.create_task(_tail(client, job, log))
    ended = False
    while not (await asyncio.wait([tail], timeout=_POLL_S))[0] and not ended:
        ended = (await asyncio.to_thread(client.get_job_status, job)).is_terminal()
    if tail.done():
        tail.result()
    tail.cancel()


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


def _write(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()
