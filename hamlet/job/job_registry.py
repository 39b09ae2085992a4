"""Registers the jobs that run on this machine, so that other commands find them.

Each job has a small file that only its user can read, and holds a lock on another one. The system
releases the lock when the process ends, however it ends. Process ids would not do: they are used
again, after a restart of a container even by the same job.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from runtime.cache_dir import cache_of
from runtime.errors import EnvironmentFailure, HamletError, did_you_mean

# How long whoever looks at a lock may hold it.
_LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Job:
    """How to reach a running job."""

    name: str
    pid: int
    address: str = ""  #: of its Ray cluster; empty while the job is starting
    namespace: str = ""
    token: str | None = None  #: a file with Ray's token, if the cluster needs one
    hub: str = ""  #: the URL of its live page


def running() -> list[Job]:
    """The jobs of living processes. Files of other jobs are removed."""
    found = []
    for path in sorted(_folder().glob("*.json")):
        with _is_free(path.with_suffix(".lock")) as free:
            if free:
                path.unlink(missing_ok=True)
            elif (job := _read(path)) is not None:
                found.append(job)
    return found


def is_alive(job: Job) -> bool:
    """Whether its process runs. It may have ended its registration before it ends."""
    with _is_free(_lock_of(job.name)) as free:
        known = _read(_file(job))
        return not free and (known is None or _process(known) == _process(job))


def find(name: str | None) -> Job:
    job = _choose(name, running())
    if not job.address:
        raise HamletError(
            f"`{job.name}` is still starting",
            "try again in a moment; its terminal says what it waits for",
        )
    return job


def _choose(name: str | None, jobs: list[Job]) -> Job:
    if name is None and len(jobs) == 1:
        return jobs[0]
    names = [job.name for job in jobs]
    if not jobs:
        raise HamletError("no job is running on this machine", "start one with hamlet run --follow")
    if name is None:
        raise HamletError(f"{len(jobs)} jobs are running", f"--job {' or '.join(names)}")
    for job in jobs:
        if job.name == name:
            return job
    raise HamletError(f"no job is called `{name}`", did_you_mean(name, names))


@contextmanager
def registered(job: Job) -> Iterator[None]:
    """Registers a job while the context is open. Its name is its own until then."""
    lock = _lock(_lock_of(job.name))
    if lock is None:
        raise HamletError(
            f"a job called `{job.name}` is already running", "give this one another --name"
        )
    try:
        register(job)
        yield
    finally:
        unregister(job)
        os.close(lock)


def register(job: Job) -> None:
    """Replaces what was registered for a job. Readers never see a half-written file."""
    path = _file(job)
    hidden = path.with_name(f".{path.name}.{job.pid}")
    with open(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(job), file)
    hidden.replace(path)


def unregister(job: Job) -> None:
    """Commands that look for the job no longer find it."""
    _file(job).unlink(missing_ok=True)


# ---- locks ---------------------------------------------------------------------------------


def _lock(path: Path) -> int | None:
    """The lock that a job holds until its process ends, or None if another one holds it. Commands
    that look whether it is free hold it for a moment."""
    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    until = time.monotonic() + _LOOK_SECONDS
    try:
        while not _flock(file, path, fcntl.LOCK_EX):
            if time.monotonic() > until:
                os.close(file)
                return None
            time.sleep(0.001)
    except EnvironmentFailure:
        os.close(file)
        raise
    return file


@contextmanager
def _is_free(path: Path) -> Iterator[bool]:
    """No job can take the name within the context."""
    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _flock(file, path, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _flock(file: int, path: Path, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise EnvironmentFailure(
            f"cannot lock {path}: {error.strerror}",
            "set HAMLET_CACHE to a folder on a disk of this machine",
        ) from error
    return True


# ---- files ---------------------------------------------------------------------------------


def _read(path: Path) -> Job | None:
    try:
        return Job(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _process(job: Job) -> tuple[int, str]:
    return job.pid, job.address


def _file(job: Job) -> Path:
    return _folder() / f"{quote(job.name, safe='')}.json"


def _lock_of(name: str) -> Path:
    return _folder() / f"{quote(name, safe='')}.lock"


def _folder() -> Path:
    """A folder that only this user can enter: names of files are names of jobs."""
    found = cache_of("jobs")
    with suppress(PermissionError):  # it belongs to somebody else
        found.chmod(0o700)
    return found
