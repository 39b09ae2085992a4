"""Registers the jobs that run on this machine, so that other commands find them.

Each job has a small file that only its user can read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from runtime.cache_dir import cache_of
from runtime.errors import HamletError, did_you_mean


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
    """The jobs whose process is alive. Files of other jobs are removed."""
    found = []
    for path in sorted(_folder().glob("*.json")):
        job = _read(path)
        if job is not None and is_alive(job.pid):
            found.append(job)
        elif job is not None:
            path.unlink(missing_ok=True)
    return found


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
    """Registers a job while the context is open."""
    if any(other.name == job.name for other in running()):
        raise HamletError(
            f"a job called `{job.name}` is already running", "give this one another --name"
        )
    register(job)
    try:
        yield
    finally:
        unregister(job)


def register(job: Job) -> None:
    """Replaces what was registered for the job. Readers never see a half-written file."""
    path = _file(job)
    hidden = path.with_name(f".{path.name}.{job.pid}")
    with open(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(job), file)
    hidden.replace(path)


def unregister(job: Job) -> None:
    """Does nothing if the name belongs to a job of another process by now."""
    known = _read(_file(job))
    if known is not None and known.pid == job.pid:
        _file(job).unlink(missing_ok=True)


def _read(path: Path) -> Job | None:
    try:
        return Job(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _file(job: Job) -> Path:
    return _folder() / f"{quote(job.name, safe='')}.json"


def _folder() -> Path:
    """A folder that only this user can enter: names of files are names of jobs."""
    found = cache_of("jobs")
    with suppress(PermissionError):  # it belongs to somebody else
        found.chmod(0o700)
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
