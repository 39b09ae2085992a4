"""Keeps the queries of a running job equal to those of a file that others change.

Such a file is, for instance, a ConfigMap that Kubernetes mounts. Its text is compared, not its
modification time: each version is another file behind a link.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from hamlet.job.workload_changes import WorkloadChanges
from runtime.errors import Failure, HamletError, InputError
from runtime.execution import state_file
from runtime.language.parser import parse
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload

POLL_SECONDS = 2.0
# After a failure of the environment, such as a rehearsal whose process died.
RETRY_SECONDS = 60.0


class WorkloadWatcher:
    """Reads each text once, so that an error is reported once. `others` may ask for changes,
    too."""

    def __init__(
        self,
        path: Path,
        others: WorkloadChanges,
        say: Callable[[str], None],
        warn: Callable[[str], None],
        every: float = POLL_SECONDS,
        retry_after: float = RETRY_SECONDS,
    ) -> None:
        self._path, self._others = path, others
        self._say, self._warn = say, warn
        self._every, self._retry_after = every, retry_after
        self._polled: float | None = None
        self._seen: str | None = None
        self._readable = True
        self._adopting: WorkloadChange | None = None

    def next(self, bound_workload: BoundWorkload) -> WorkloadChange | None:
        wanted = self._others.next(bound_workload)
        if wanted is not None:
            return wanted
        now = time.monotonic()
        if self._polled is not None and now - self._polled < self._every:
            return None
        self._polled = now
        try:
            self._adopting = self._poll(bound_workload)
        except HamletError as error:
            self._reject(error)
        return self._adopting

    def committed(self, change: WorkloadChange, epoch: int) -> None:
        if self._adopting is None:
            self._others.committed(change, epoch)
            return
        self._adopting = None
        parts = [f"added {', '.join(query.name for query in change.added)}"] if change.added else []
        if change.removed:
            parts.append(f"removed {', '.join(change.removed)}")
        self._say(f"{self._path}: {' and '.join(parts)} with epoch {epoch}")

    def refused(self, change: WorkloadChange, reason: HamletError) -> None:
        if self._adopting is None:
            self._others.refused(change, reason)
            return
        self._adopting = None
        if not isinstance(reason, Failure):
            self._reject(reason)
            return
        self._seen = None  # nothing is wrong with the file: it is adopted later
        self._polled = time.monotonic() + self._retry_after
        self._warn(
            f"{self._path} is not applied yet: {_one_line(reason)}; the job tries again in "
            f"{self._retry_after:g} s"
        )

    def _reject(self, error: HamletError) -> None:
        self._warn(
            f"{self._path} is rejected, and the queries stay as they are: {_one_line(error)}"
        )

    def _poll(self, bound_workload: BoundWorkload) -> WorkloadChange | None:
        text = self._text()
        if text is None or text == self._seen:
            return None
        self._seen = text
        change = self._difference(text, bound_workload)
        if change is not None:
            bound_workload.with_changes(
                change.added, change.removed
            )  # raises if it does not fit the input
        return change

    def _text(self) -> str | None:
        """None while the file cannot be read. That is reported once."""
        try:
            text = self._path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            readable, self._readable = self._readable, False
            if readable:
                raise InputError(f"it cannot be read: {error}") from error
            return None
        self._readable = True
        return text

    def _difference(self, text: str, bound_workload: BoundWorkload) -> WorkloadChange | None:
        wanted = {query.name: query for query in parse(text, str(self._path))}
        running = {query.name: query for query in bound_workload.workload}
        for name in wanted.keys() & running.keys():
            if state_file.fingerprint(wanted[name]) != state_file.fingerprint(running[name]):
                self._warn(
                    f"`{name}` has changed in {self._path}, but the job keeps the old version: "
                    "give the changed query a new name; it then counts from there on"
                )
        added = tuple(query for name, query in wanted.items() if name not in running)
        removed = tuple(name for name in running if name not in wanted)
        return WorkloadChange(added, removed) if added or removed else None


def _one_line(error: HamletError) -> str:
    return " ".join(str(error).split())
