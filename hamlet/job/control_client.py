"""Asks a running job."""

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

PATIENCE_SECONDS = 60.0


class Asking:
    def __init__(self, control: Any) -> None:
        self._control = control

    def queries(self) -> list[dict[str, Any]]:
        """Waits for a driver that has only just begun, and told nothing yet."""
        shown = _awaited(self._shown)
        return list(shown["queries"])

    def change(self, question: dict[str, Any]) -> dict[str, Any]:
        """Waits until the driver has taken it up, between two epochs."""
        number = uuid.uuid4().hex
        ray.get(self._control.ask.remote(number, question))
        answer = _awaited(lambda: ray.get(self._control.answer.remote(number)))
        if "error" in answer:
            raise answer["error"]
        return answer

    def _shown(self) -> dict[str, Any] | None:
        shown: dict[str, Any] = ray.get(self._control.shown.remote())
        return shown or None


def _awaited(look: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        found = look()
        if found is not None:
            return found
        time.sleep(0.05)
    raise HamletError(f"the job has not answered within {PATIENCE_SECONDS:g} s")


@contextmanager
def asking(job: Job) -> Iterator[Asking]:
    token = None if job.token is None else Path(job.token)
    refused: HamletError | None = None
    with clusters.connect(job.address, token=token):
        try:
            yield Asking(_control_of(job))
        except HamletError as error:  # no reason to keep the logs of this connection
            refused = error
    if refused is not None:
        raise refused


def _control_of(job: Job) -> Any:
    try:
        return ray.get_actor(PREFIX + job.name, namespace=job.namespace)
    except ValueError:
        raise HamletError(f"`{job.name}` does not listen", "is it still starting?") from None
