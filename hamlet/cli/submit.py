"""`hamlet submit`: runs a command as a job on a Ray cluster, as if it ran here."""

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
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from actors.log_redirect import logged_to
from actors.sigterm import TERMINATED
from hamlet.cli import options
from hamlet.cli.durations import parse_duration
from hamlet.cli.exit_codes import FAILURE, exit_with
from hamlet.cli.flag_groups import ungrouped
from hamlet.cli.help import examples, prose
from hamlet.cli.job_log import MARK, JobLog
from hamlet.cli.ray_dashboard import (
    NAME,
    Address,
    await_end,
    check_address,
    ray_errors,
    stop_jobs_named,
)
from hamlet.cli.stderr import Notices, print_plain

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

EXAMPLES = examples(
    (
        "hamlet submit --address http://head:8265 -- run queries.sase --input events.parquet",
        "run it on the cluster; its output and its exit code are returned",
    ),
    (
        "hamlet submit --address http://head:8265 --name rides --no-upload -- "
        "run /shared/rides.sase --input /shared/events",
        "with files on the cluster; a job that still runs under the name rides is stopped first",
    ),
    (
        "RAY_AUTH_MODE=token hamlet submit --address http://head:8265 -- check queries.sase",
        "with the token in RAY_AUTH_TOKEN, or in a file, as for `ray job submit`",
    ),
)
_POLL_S = 1.0
# The environment variable with the time that Ray waits between SIGTERM and SIGKILL.
_STOP_WAIT = "RAY_JOB_STOP_WAIT_TIME_S"
_STARTING = "No available agent"
Answer = TypeVar("Answer")


class _Termination(BaseException):
    """SIGTERM: the job must stop, and its exit code is still wanted."""


def register(app: typer.Typer) -> None:
    app.command("submit", help=prose(command), epilog=EXAMPLES)(ungrouped(command))


@dataclass(frozen=True)
class SubmitFlags:
    address: Address
    working_dir: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="The folder to upload. The command runs in it. A .rayignore file in it lists what "
            "not to upload.",
        ),
    ] = Path()
    no_upload: Annotated[
        bool,
        typer.Option(
            "--no-upload",
            help="Upload nothing: every file that the command names is on the cluster.",
        ),
    ] = False
    name: Annotated[
        str | None,
        typer.Option(
            help="A name for the job. A job that still runs under this name is stopped first."
        ),
    ] = None
    wait: Annotated[
        str,
        typer.Option(metavar="TIME", help="How long to wait for a cluster that is starting."),
    ] = "0s"
    stop_within: Annotated[
        str,
        typer.Option(metavar="TIME", help="How long a stopped job may take to finish its epochs."),
    ] = "15s"
    python: Annotated[
        str, typer.Option(help="The Python on the cluster that has Hamlet installed.")
    ] = "python"

    @property
    def stop_seconds(self) -> int:
        return max(1, round(parse_duration(self.stop_within) / 1e6))

    @property
    def wait_seconds(self) -> float:
        return parse_duration(self.wait) / 1e6


def command(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND", help="A hamlet command with its options."),
    ],
    flags: SubmitFlags,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Runs a hamlet command as a job on a Ray cluster.

    Uploads the working folder, waits for the job, prints what the job prints, and exits with its
    exit code. Ctrl-C and SIGTERM stop the job. Hamlet must be installed on the cluster.
    """
    check_address(flags.address)
    notices = Notices(quiet)
    mark = f"hamlet-{secrets.token_hex(8)}"
    log = JobLog(mark, _write)
    with ray_errors(flags.address), logged_to(Path(os.devnull), "ray"), _termination():
        client, job = _submit(arguments, flags, mark, notices)
        notices.say(f"job {job} on {flags.address}")
        try:
            _follow(client, job, log)
        except (KeyboardInterrupt, _Termination) as signalled:
            _stop(client, job, flags.stop_seconds, log, notices)
            if isinstance(signalled, KeyboardInterrupt):
                raise
        info = client.get_job_info(job)
    if log.code is None:  # it was killed, or did not even start
        reason = " ".join((info.message or "").split())
        print_plain(f"error: job {job} did not finish: {reason}")
    raise exit_with(FAILURE if log.code is None else log.code)


def _submit(
    arguments: list[str], flags: SubmitFlags, mark: str, notices: Notices
) -> tuple[JobSubmissionClient, str]:
    from ray.job_submission import JobSubmissionClient  # takes a second, and sets up its loggers

    retry = _RetryWhileStarting(flags.wait_seconds, flags.address, notices)
    client = retry.call(lambda: JobSubmissionClient(flags.address))
    if flags.name is not None:  # its submitter may have been killed before stopping it
        stop_jobs_named(client, flags.name, flags.stop_seconds + _POLL_S, notices)
    environment: dict[str, object] = {"env_vars": {MARK: mark, _STOP_WAIT: str(flags.stop_seconds)}}
    if not flags.no_upload:
        environment["working_dir"] = str(flags.working_dir)
    entrypoint = shlex.join([flags.python, "-m", "hamlet.cli.submit_entrypoint", *arguments])
    job = retry.call(
        lambda: client.submit_job(
            entrypoint=entrypoint,
            runtime_env=environment,
            metadata={} if flags.name is None else {NAME: flags.name},
        )
    )
    return client, job


def _stop(
    client: JobSubmissionClient, job: str, seconds: int, log: JobLog, notices: Notices
) -> None:
    notices.say(f"stopping job {job}")
    client.stop_job(job)
    await_end(client, job, seconds)
    _catch_up(client, job, log)


class _RetryWhileStarting:
    """Repeats calls while a cluster is starting: at first it does not answer, then its dashboard
    does but cannot run jobs yet."""

    def __init__(self, seconds: float, address: str, notices: Notices) -> None:
        self._until = time.monotonic() + seconds
        self._notice: str | None = f"waiting for the cluster at {address}"
        self._notices = notices

    def call(self, ask: Callable[[], Answer]) -> Answer:
        while True:
            try:
                return ask()
            except (OSError, RuntimeError) as error:
                starting = isinstance(error, OSError) or _STARTING in str(error)
                if not starting or time.monotonic() > self._until:
                    raise
            if self._notice is not None:
                self._notices.say(self._notice)
                self._notice = None
            time.sleep(_POLL_S)


@contextmanager
def _termination() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except _Termination:  # there is no job yet
        raise typer.Exit(TERMINATED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Termination


def _follow(client: JobSubmissionClient, job: str, log: JobLog) -> None:
    """Prints the log until the job has ended. The connection can end earlier, so the state is
    polled as well."""
    while not client.get_job_status(job).is_terminal():
        with suppress(RuntimeError):
            asyncio.run(_tail_until_end(client, job, log))
        await_end(client, job, _POLL_S)
    _catch_up(client, job, log)


async def _tail_until_end(client: JobSubmissionClient, job: str, log: JobLog) -> None:
    """The connection may not notice the end of the job, so the state is polled as well."""
    tail = asyncio.create_task(_tail(client, job, log))
    ended = False
    while not (await asyncio.wait([tail], timeout=_POLL_S))[0] and not ended:
        ended = (await asyncio.to_thread(client.get_job_status, job)).is_terminal()
    if tail.done():
        tail.result()
    tail.cancel()


async def _tail(client: JobSubmissionClient, job: str, log: JobLog) -> None:
    """The log starts from the beginning each time; what was printed is skipped."""
    seen = 0
    async for text in client.tail_job_logs(job):
        new = text[max(0, log.length - seen) :]
        seen += len(text)
        if new:
            log.feed(new)


def _catch_up(client: JobSubmissionClient, job: str, log: JobLog) -> None:
    log.feed(client.get_job_logs(job)[log.length :])
    log.end()


def _write(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()
