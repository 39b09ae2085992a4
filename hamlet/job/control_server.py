"""Answers other processes that list, add or remove queries of this job (see `actors.control`)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError

from actors.control import PREFIX, Control
from actors.process_watch import WatchedActor, watched_actors
from hamlet.job.control_requests import ControlRequests
from runtime.errors import HamletError
from runtime.language.ast import describe
from runtime.language.parser import parse
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload

POLL_SECONDS = 0.1


class ControlServer:
    """Checks a change before the driver gets it, so that a wrong one does not disturb the
    job."""

    def __init__(self, job: str, watched: Path | None = None) -> None:
        """`watched`: the file whose queries the job runs. Changes from elsewhere are refused."""
        self._watched = watched
        self._control: Any = Control.options(name=PREFIX + job).remote()  # type: ignore[attr-defined]
        self._request: Any = None
        self._polled = 0.0
        self._requests = ControlRequests()
        self._current: str | None = None

    def next(self, bound_workload: BoundWorkload) -> WorkloadChange | None:
        self._poll(bound_workload)
        while (request := self._requests.next()) is not None:
            number, question = request
            try:
                change = self._checked(question, bound_workload)
            except HamletError as error:
                self._answer(number, {"error": error})
            else:
                self._current = number
                return change
        return None

    def _checked(self, question: object, bound_workload: BoundWorkload) -> WorkloadChange:
        if self._watched is not None:
            raise HamletError(f"the job follows {self._watched}", "change the queries in that file")
        change = _parse_change(question)
        bound_workload.with_changes(change.added, change.removed)
        if len(bound_workload.workload) + len(change.added) == len(change.removed):
            raise HamletError("a job needs at least one query", "add another one first")
        return change

    def committed(self, change: WorkloadChange, epoch: int) -> None:
        names = [query.name for query in change.added]
        answer = {"added": names, "removed": list(change.removed), "since": change.since}
        self._answer_current({**answer, "epoch": epoch})

    def refused(self, change: WorkloadChange, reason: HamletError) -> None:
        self._answer_current({"error": reason})

    def _answer_current(self, answer: dict[str, Any]) -> None:
        assert self._current is not None
        self._answer(self._current, answer)
        self._current = None

    @property
    def watched(self) -> list[WatchedActor]:
        return watched_actors("control", [self._control])

    def close(self) -> None:
        ray.kill(self._control)

    def _poll(self, bound_workload: BoundWorkload) -> None:
        """Does not wait for the actor: its reply is taken once it is there."""
        now = time.monotonic()
        if self._request is None:
            if now - self._polled < POLL_SECONDS:
                return
            self._polled = now
            self._request = self._control.poll.remote(_status(bound_workload))
        if ray.wait([self._request], timeout=0)[0]:
            request, self._request = self._request, None
            try:
                received = ray.get(request)
            except RayActorError:  # Ray restarts it, and clients ask again
                return
            for number, answer in self._requests.receive(received).items():
                self._control.respond.remote(number, answer)

    def _answer(self, number: str, answer: dict[str, Any]) -> None:
        self._requests.answered(number, answer)
        self._control.respond.remote(number, answer)


def _parse_change(question: object) -> WorkloadChange:
    """Whoever may connect to Ray can ask anything."""
    match question:
        case {"add": str(text), "file": str(file)}:
            return WorkloadChange(added=tuple(parse(text, file)))
        case {"add": str(text), **others} if "file" not in others:
            return WorkloadChange(added=tuple(parse(text, "<query>")))
        case {"remove": [*names]} if all(isinstance(name, str) for name in names):
            return WorkloadChange(removed=tuple(names))
    raise HamletError(
        "the request is not a change of queries", "use the version of hamlet that the job runs"
    )


def _status(bound_workload: BoundWorkload) -> dict[str, Any]:
    return {
        "queries": [
            {"name": query.name, "pattern": describe(query.pattern)}
            for query in bound_workload.workload
        ]
    }
