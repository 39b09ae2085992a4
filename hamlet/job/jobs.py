"""Jobs that run on this machine, so that other commands find them: a small file for each, which
only this user can read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from runtime.cache import cache_of
from runtime.errors import HamletError, did_you_mean


@dataclass(frozen=True)
class Job:
    """`token` is the file that holds Ray's token, if the cluster wants one."""

    name: str
    pid: int
    address: str
    namespace: str
    token: str | None


def running() -> list[Job]:
    """Those whose process is alive; files of others are removed."""
    found = []
    for path in sorted(cache_of("jobs").glob("*.json")):
        try:
            job = Job(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            continue
        if _alive(job.pid):
            found.append(job)
        else:
            path.unlink(missing_ok=True)
    return found


def find(name: str | None) -> Job:
    jobs = running()
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
def listed(job: Job) -> Iterator[None]:
    """While the job runs."""
    if any(other.name == job.name for other in running()):
        raise HamletError(
            f"a job called `{job.name}` is running already", "--name tells them apart"
        )
    path = cache_of("jobs") / f"{job.name}.json"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(job), file)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
