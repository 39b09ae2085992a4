"""A job whose queries are those of its file: what changes there changes the job while it runs.

For a file that others put in place, such as a ConfigMap that Kubernetes mounts. It is compared as
text: such a file is a link to another one each time, and its time says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from hamlet.job.workload_changes import Changes
from runtime.errors import HamletError, InputError
from runtime.execution import state_file
from runtime.language.parser import parse
from runtime.pipeline.aggregation import Change
from runtime.pipeline.bound_workload import Intake

EVERY_SECONDS = 2.0


class Watching:
    """Each text is looked at once, so that a mistake is told once. `others` are who else asks."""

    def __init__(
        self,
        path: Path,
        others: Changes,
        say: Callable[[str], None],
        warn: Callable[[str], None],
        every: float = EVERY_SECONDS,
    ) -> None:
        self._path, self._others = path, others
        self._say, self._warn = say, warn
        self._every = every
        self._looked: float | None = None
        self._seen: str | None = None
        self._readable = True
        self._adopting: Change | None = None

    def next(self, intake: Intake) -> Change | None:
        asked = self._others.next(intake)
        if asked is not None:
            return asked
        now = time.monotonic()
        if self._looked is not None and now - self._looked < self._every:
            return None
        self._looked = now
        try:
            self._adopting = self._look(intake)
        except HamletError as error:
            told = " ".join(str(error).split())
            self._warn(f"{self._path} is not taken up, and the queries stay as they are: {told}")
        return self._adopting

    def adopted(self, change: Change, epoch: int) -> None:
        if self._adopting is None:
            self._others.adopted(change, epoch)
            return
        self._adopting = None
        told = [f"added {', '.join(query.name for query in change.added)}"] if change.added else []
        if change.removed:
            told.append(f"removed {', '.join(change.removed)}")
        self._say(f"{self._path}: {' and '.join(told)} with epoch {epoch}")

    def _look(self, intake: Intake) -> Change | None:
        text = self._text()
        if text is None or text == self._seen:
            return None
        self._seen = text
        change = self._difference(text, intake)
        if change is not None:
            intake.changed(change.added, change.removed)  # does it fit the input?
        return change

    def _text(self) -> str | None:
        """None while it cannot be read, which is told once."""
        try:
            text = self._path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            readable, self._readable = self._readable, False
            if readable:
                raise InputError(f"it cannot be read: {error}") from error
            return None
        self._readable = True
        return text

    def _difference(self, text: str, intake: Intake) -> Change | None:
        wanted = {query.name: query for query in parse(text, str(self._path))}
        running = {query.name: query for query in intake.workload}
        for name in wanted.keys() & running.keys():
            if state_file.fingerprint(wanted[name]) != state_file.fingerprint(running[name]):
                self._warn(
                    f"`{name}` has changed in {self._path}, and goes on as it was: "
                    "give the changed query a new name, then it counts from there on"
                )
        added = tuple(query for name, query in wanted.items() if name not in running)
        removed = tuple(name for name in running if name not in wanted)
        return Change(added, removed) if added or removed else None
