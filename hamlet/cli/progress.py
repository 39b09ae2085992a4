"""A bar on standard error while somebody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from hamlet.cli.notices import Notices


class Bars:
    """Reading, of which the end is not known, then matching."""

    def __init__(self, progress: Progress | None, total: int | None = None) -> None:
        self._progress = progress
        self._total = total
        self._reading: TaskID | None = None
        self._matching: TaskID | None = None

    def read(self, rows: int) -> None:
        if self._progress is None:
            return
        if self._reading is None:
            self._reading = self._progress.add_task("reading", total=self._total)
        self._progress.advance(self._reading, rows)

    def match(self, rows: int, total: int) -> None:
        if self._progress is None:
            return
        if self._matching is None:
            self._matching = self._progress.add_task("matching", total=total)
            if self._reading is not None:
                self._progress.update(self._reading, visible=False)
        self._progress.advance(self._matching, rows)


@contextmanager
def bars(notices: Notices, total: int | None = None) -> Iterator[Bars]:
    """The bars vanish when they are done."""
    if not notices.live:
        yield Bars(None)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("events"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=notices.console, transient=True) as progress:
        yield Bars(progress, total)
