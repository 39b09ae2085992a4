"""Lists and changes the queries of a running job, from another process."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from actors import cluster as clusters
from actors.control import PREFIX
from hamlet.job.job_registry import Job, is_alive
from runtime.errors import Failure, HamletError

STATUS_SECONDS = 60.0
# A change waits until its kernels are compiled: minutes, if the machine is busy.
CHANGE_SECONDS = 900.0
# A change that takes longer than this says what it waits for.
QUIET_SECONDS = 3.0
# The actor that passes requests on forgets them if it is restarted.
REPEAT_SECONDS = 1.0
_CHECK_SECONDS = 1.0


class ControlClient:
    def __init__(self, job: Job, control: Any) -> None:
        self._job, self._control = job, control

    def queries(self) -> list[dict[str, Any]]:
        """Waits for a driver that has just started and has not reported yet."""
        until = time.monotonic() + STATUS_SECONDS
        while time.monotonic() < until:
            status = self._call(self._control.status.remote())
            if status:
                return list(status["queries"])
            time.sleep(0.05)
        raise Failure(f"the job has not answered within {STATUS_SECONDS:g} s")

    def change(
        self, question: dict[str, Any], waits: Callable[[str], None] = lambda what: None
    ) -> dict[str, Any]:
        """Returns when the epoch that makes the change is committed. `waits` hears what a change
        that takes long waits for."""
        number = uuid.uuid4().hex
        began, said, repeat = time.monotonic(), False, 0.0
        while time.monotonic() < began + CHANGE_SECONDS:
            if time.monotonic() >= repeat:
                self._call(self._control.request.remote(number, question))
                repeat = time.monotonic() + REPEAT_SECONDS
            answer = self._call(self._control.answer.remote(number))
            if answer is not None:
                if "error" in answer:
                    raise answer["error"]
                return dict(answer)
            if not said and time.monotonic() > began + QUIET_SECONDS:
                said = True
                waits("waiting until the job has compiled what the change needs, and committed it")
            time.sleep(0.05)
        raise _unconfirmed(f"has not confirmed the change within {CHANGE_SECONDS:g} s")

    def _call(self, call: Any) -> Any:
        """The result of a call. Ray may wait in vain for an actor of a job that was killed."""
        while True:
            try:
                return ray.get(call, timeout=_CHECK_SECONDS)
            except GetTimeoutError:
                if not is_alive(self._job):
                    raise _unconfirmed("has ended") from None
            except RayError:
                raise _unconfirmed("has ended") from None


def _unconfirmed(what: str) -> Failure:
    return Failure(
        f"the job {what}, so a change may not have been made",
        "`hamlet query list` shows the queries of a running job; a job that is started again with "
        "its --checkpoint has all changes that were committed",
    )


@contextmanager
def connect(job: Job) -> Iterator[ControlClient]:
    token = None if job.token is None else Path(job.token)
    refused: HamletError | None = None
    with clusters.connect(job.address, token=token):
        try:
            yield ControlClient(job, _control_of(job))
        except HamletError as error:  # its logs are not worth keeping
            refused = error
    if refused is not None:
        raise refused


def _control_of(job: Job) -> Any:
    try:
        return ray.get_actor(PREFIX + job.name, namespace=job.namespace)
    except ValueError:
        raise Failure(f"`{job.name}` does not answer", "is it still starting?") from None
