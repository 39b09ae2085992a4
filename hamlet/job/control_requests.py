"""Remembers requests to change queries, so that none is lost and none is carried out twice.

The actor between clients and a job (`actors.control`) forgets everything when it is restarted. So a
client repeats its request until it gets an answer, and the job answers a repeated request again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from actors.control import KEPT_ANSWERS

Answer = dict[str, Any]


class ControlRequests:
    """Requests by the numbers that their clients gave them."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[str, object]] = deque()
        self._answers: dict[str, Answer | None] = {}  #: None for those that are not answered yet

    def receive(self, requests: Mapping[str, object]) -> dict[str, Answer]:
        """Queues the new ones. Returns the answers of those that were answered before."""
        again = {}
        for number, question in requests.items():
            answer = self._answers.get(number)
            if answer is not None:
                again[number] = answer
            elif number not in self._answers:
                self._answers[number] = None
                self._waiting.append((number, question))
        return again

    def next(self) -> tuple[str, object] | None:
        return self._waiting.popleft() if self._waiting else None

    def answered(self, number: str, answer: Answer) -> None:
        """Remembers the answer, and forgets old ones: their clients have got them."""
        self._answers[number] = answer
        answered = [each for each, known in self._answers.items() if known is not None]
        for each in answered[:-KEPT_ANSWERS]:
            del self._answers[each]
