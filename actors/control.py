"""Passes requests to the driver of a running job, and its responses back.

The driver is not an actor and cannot be called, so it polls this one. This one forgets everything
when it is restarted: clients repeat requests, and the driver its responses.
"""

from __future__ import annotations

from typing import Any

import ray

PREFIX = "hamlet-control-"
# A client fetches its answer within a second, or repeats its request.
KEPT_ANSWERS = 100


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Control:
    def __init__(self) -> None:
        self._requests: dict[str, dict[str, Any]] = {}
        self._responses: dict[str, dict[str, Any]] = {}
        self._status: dict[str, Any] = {}

    def request(self, number: str, request: dict[str, Any]) -> None:
        """The client chooses `number`, so that a repeated request has no effect."""
        if number not in self._responses:
            self._requests[number] = request

    def answer(self, number: str) -> dict[str, Any] | None:
        """None until the driver has answered."""
        return self._responses.get(number)

    def status(self) -> dict[str, Any]:
        """The latest status of the job."""
        return self._status

    # ---- for the driver --------------------------------------------------------------------

    def poll(self, status: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
        if status is not None:
            self._status = status
        requests, self._requests = self._requests, {}
        return requests

    def respond(self, number: str, answer: dict[str, Any]) -> None:
        self._responses[number] = answer
        while len(self._responses) > KEPT_ANSWERS:
            del self._responses[next(iter(self._responses))]
