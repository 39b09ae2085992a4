"""Lists and changes the queries of a running job, from another process."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

from actors import cluster as clusters
from actors.control import PREFIX
from hamlet.job.job_registry import Job
from runtime.errors import HamletError

TIMEOUT_SECONDS = 60.0


class ControlClient:
    def __init__(self, control: Any) -> None:
        self._control = control

    def queries(self) -> list[dict[str, Any]]:
        """Waits for a driver that has just started and has not reported yet."""
        status = _poll(self._status)
        return list(status["queries"])

    def change(self, question: dict[str, Any]) -> dict[str, Any]:
        """Waits until the driver has applied the change, between two epochs."""
        number = uuid.uuid4().hex
        ray.get(self._control.request.remote(number, question))
        answer = _poll(lambda: ray.get(self._control.answer.remote(number)))
        if "error" in answer:
            raise answer["error"]
        return answer

    def _status(self) -> dict[str, Any] | None:
        status: dict[str, Any] = ray.get(self._control.status.remote())
        return status or None


def _poll(look: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        found = look()
        if found is not None:
            return found
        time.sleep(0.05)
    raise HamletError(f"the job has not answered within {TIMEOUT_SECONDS:g} s")


@contextmanager
def connect(job: Job) -> Iterator[ControlClient]:
    token = None if job.token is None else Path(job.token)
    refused: HamletError | None = None
    with clusters.connect(job.address, token=token):
        try:
            yield ControlClient(_control_of(job))
        except HamletError as error:  # its logs are not worth keeping
            refused = error
    if refused is not None:
        raise refused


def _control_of(job: Job) -> Any:
    try:
        return ray.get_actor(PREFIX + job.name, namespace=job.namespace)
    except ValueError:
        raise HamletError(f"`{job.name}` does not answer", "is it still starting?") from None
