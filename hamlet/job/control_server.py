"""The driver's side of `actors.control`: questions are taken, checked and answered here."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError

from actors.control import PREFIX, Control
from runtime.errors import HamletError
from runtime.language.ast import describe
from runtime.language.parser import parse
from runtime.pipeline.aggregation import Change
from runtime.pipeline.bound_workload import Intake

EVERY_SECONDS = 0.1


class Desk:
    """A change is checked before anything else hears of it, so that a wrong one disturbs nobody."""

    def __init__(self, job: str, follows: Path | None = None) -> None:
        """`follows`: the job's queries are those of that file, and of nobody else."""
        self._follows = follows
        self._control: Any = Control.options(name=PREFIX + job).remote()  # type: ignore[attr-defined]
        self._asked: Any = None
        self._looked = 0.0
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self._adopting: str | None = None
        self._shown: dict[str, Any] | None = None

    def next(self, intake: Intake) -> Change | None:
        self._look(intake)
        while self._waiting:
            number, question = self._waiting.popleft()
            try:
                if self._follows is not None:
                    raise HamletError(
                        f"the job follows {self._follows}", "change the queries in that file"
                    )
                change = _change(question)
                intake.changed(change.added, change.removed)
                if len(intake.workload) + len(change.added) == len(change.removed):
                    raise HamletError("a job needs a query", "add another one first")
            except HamletError as error:
                self._put(number, {"error": error})
            else:
                self._adopting = number
                return change
        return None

    def adopted(self, change: Change, epoch: int) -> None:
        if self._adopting is not None:
            names = [query.name for query in change.added]
            answer = {"added": names, "removed": list(change.removed), "since": change.since}
            self._put(self._adopting, {**answer, "epoch": epoch})
            self._adopting = None

    def close(self) -> None:
        ray.kill(self._control)

    def _look(self, intake: Intake) -> None:
        """Nobody waits for the answer: it is taken when it is there."""
        now = time.monotonic()
        if self._asked is None:
            if now - self._looked < EVERY_SECONDS:
                return
            self._looked = now
            self._asked = self._control.take.remote(_told(intake))
        if ray.wait([self._asked], timeout=0)[0]:
            asked, self._asked = self._asked, None
            try:
                self._waiting.extend(ray.get(asked).items())
            except RayActorError:  # it is restarted, and whoever asked asks again
                return

    def _put(self, number: str, answer: dict[str, Any]) -> None:
        self._control.put.remote(number, answer)


def _change(question: dict[str, Any]) -> Change:
    if "add" in question:
        return Change(added=tuple(parse(question["add"], question.get("file", "<query>"))))
    return Change(removed=tuple(question["remove"]))


def _told(intake: Intake) -> dict[str, Any]:
    return {
        "queries": [
            {"name": query.name, "pattern": describe(query.pattern)} for query in intake.workload
        ]
    }
