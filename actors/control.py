"""Where a running job is asked to change, and answers. The driver cannot be called, so questions
wait here until it takes them."""

from __future__ import annotations

from typing import Any

import ray

PREFIX = "hamlet-control-"


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Control:
    def __init__(self) -> None:
        self._asked: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._shown: dict[str, Any] = {}

    def ask(self, number: str, question: dict[str, Any]) -> None:
        """`number` is the asker's own, so that asking again changes nothing."""
        if number not in self._answers:
            self._asked[number] = question

    def answer(self, number: str) -> dict[str, Any] | None:
        """None as long as the driver has not answered."""
        return self._answers.get(number)

    def shown(self) -> dict[str, Any]:
        """What the driver last told of the job."""
        return self._shown

    # ---- for the driver --------------------------------------------------------------------

    def take(self, shown: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
        if shown is not None:
            self._shown = shown
        asked, self._asked = self._asked, {}
        return asked

    def put(self, number: str, answer: dict[str, Any]) -> None:
        self._answers[number] = answer
