"""Progress bars on standard error, if it is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from hamlet.cli.stderr import Notices, one_line

COMPILING = "compiling kernels for this workload (once on this machine)"


class ProgressBars:
    """A bar for reading, then one for matching; below, a line while kernels compile."""

    def __init__(
        self,
        progress: Progress | None,
        total: int | None = None,
        status: Progress | None = None,
        show: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`show` refreshes the screen. Without a screen, `say` prints a line."""
        self._progress = progress
        self._status = status
        self._show = show
        self._say: Callable[[str], None] | None = say
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

    def compiling(self, now: bool) -> None:
        if self._status is None:
            self._say_once()
            return
        if not self._status.task_ids:
            self._status.add_task(COMPILING, total=None)
        self._status.update(self._status.task_ids[0], visible=now)
        self._show()

    def _say_once(self) -> None:
        if self._say is not None:
            self._say(COMPILING)
            self._say = None


@contextmanager
def progress_bars(notices: Notices, total: int | None = None) -> Iterator[ProgressBars]:
    """The bars disappear at the end."""
    if not notices.live:
        yield ProgressBars(None, say=notices.say)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("events"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=notices.console)
    status = Progress(SpinnerColumn(), TextColumn("{task.description}"), console=notices.console)
    shown = Group(progress, status)
    with Live(shown, console=notices.console, refresh_per_second=10, transient=True) as live:
        yield ProgressBars(progress, total, status, live.refresh)


class StepProgress:
    """The progress of long work: a bar on a terminal, else a line for each step. If the number of
    steps is not known, call it with a line to print."""

    def __init__(self, notices: Notices, progress: Progress | None = None) -> None:
        self._notices = notices
        self._progress = progress
        self._total = 0
        self._ended = 0

    def __call__(self, line: str) -> None:
        self._notices.say(line)

    def begin(self, total: int) -> None:
        self._total = total
        if self._progress is not None:
            self._progress.add_task("", total=total)

    def now(self, what: str) -> None:
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], description=one_line(what))

    def done(self, line: str) -> None:
        self._ended += 1
        if self._progress is None:
            self._notices.say(f"{self._ended} of {self._total}: {line}")
        else:
            self.now(line)
            self._progress.advance(self._progress.task_ids[0])


@contextmanager
def steps(notices: Notices) -> Iterator[StepProgress]:
    """The bar disappears at the end."""
    if not notices.live:
        yield StepProgress(notices)
        return
    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=notices.console, transient=True) as progress:
        yield StepProgress(notices, progress)
