"""Ends the process of a job by force if it does not end in time by itself.

A job that is stopped finishes its epochs and closes what it opened. Both may wait for a process
that is dead or hangs, and in code that no signal interrupts. Its state is in its checkpoint, so
that nothing is lost by force.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from hamlet.cli.job_log import MARK, log_exit_code

# As long as the chart's `job.drainSeconds` and the compose file give a job to stop.
GRACE_SECONDS = 60.0
# If there is nothing to finish, as after a process was lost: for closing what is open.
CLOSE_SECONDS = 12.0
# If all is well, closing takes a few seconds; on a busy machine it may take as long as a start.
END_SECONDS = 60.0
# Ray kills a job that has not ended after so many seconds. The last line should come before that.
RAY_GRACE = "RAY_JOB_STOP_WAIT_TIME_S"
_MARGIN_SECONDS = 2.0
_SHOW_CURSOR = "\x1b[?25h"  # a progress display may have hidden it


def grace_seconds() -> float:
    """How long a job may take to stop: `hamlet submit --stop-within` and the chart set it."""
    given = os.environ.get(RAY_GRACE, "")
    if not given.isdigit():
        return GRACE_SECONDS
    return max(int(given) - _MARGIN_SECONDS, int(given) / 2)


@dataclass(frozen=True)
class ForcedEnd:
    """When, and what the last line says."""

    moment: float
    code: int
    text: Callable[[], str]


class Deadline:
    """`text` is the last line of a process that ignored a signal: what was kept.

    `watch_signals` starts it with the first Ctrl-C or SIGTERM. Python runs a handler in the main
    thread, which may be waiting in C++. The number of the signal goes through a pipe as well, and
    the thread of the deadline reads it there.
    """

    def __init__(self, text: Callable[[], str], grace: float | None = None) -> None:
        self._text = text
        self._grace = grace_seconds() if grace is None else grace
        self._ends: list[ForcedEnd] = []
        self._before = -1
        self._signals = 0
        self._reader, self._writer = os.pipe()
        for end in (self._reader, self._writer):
            os.set_blocking(end, False)
        self._thread = threading.Thread(target=self._run, name="deadline", daemon=True)
        self._thread.start()

    def watch_signals(self) -> None:
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def close(self) -> None:
        """Heeds no more signals. A deadline that has started stays: the process has to end."""
        signal.set_wakeup_fd(self._before)

    def start(self, seconds: float, code: int, text: Callable[[], str]) -> ForcedEnd:
        """Ends the process with `code` after this time, and prints the `text`. Of several, the
        earliest counts."""
        end = ForcedEnd(time.monotonic() + seconds, code, text)
        self._ends.append(end)
        with suppress(BlockingIOError):
            os.write(self._writer, b"\0")  # the thread waits for the new deadline
        return end

    def withdraw(self, end: ForcedEnd) -> None:
        self._ends.remove(end)

    def _run(self) -> None:
        while True:
            first = min(list(self._ends), key=lambda end: end.moment, default=None)
            left = None if first is None else first.moment - time.monotonic()
            if first is not None and left is not None and left <= 0:
                end_by_force(first.code, first.text)
            if select.select([self._reader], [], [], left)[0]:
                for number in os.read(self._reader, 64):
                    self._receive(number)

    def _receive(self, number: int) -> None:
        """The first signal asks for the epochs in progress, another one for an end at once."""
        if number not in (signal.SIGINT, signal.SIGTERM):
            return
        self._signals += 1
        seconds = self._grace if self._signals == 1 else min(self._grace, CLOSE_SECONDS)
        reason = f"the job did not stop within {seconds:g} s; it was ended by force"
        self.start(seconds, 128 + number, lambda: f"{reason}\n{text_of(self._text)}")


def end_by_force(code: int, text: Callable[[], str]) -> NoReturn:
    """Prints the text, kills all processes that this one started, and exits, whatever fails."""
    try:
        # Past the buffer of `sys.stderr`: the main thread may hold its lock.
        shown = _SHOW_CURSOR if sys.stderr.isatty() else ""
        line = f"{shown}{text_of(text)}\n".encode(errors="backslashreplace")
        os.write(sys.stderr.fileno(), line)
    except (OSError, ValueError):  # nobody reads it
        pass
    try:
        _kill_children()
        if MARK in os.environ:
            log_exit_code(code)
    finally:
        os._exit(code)


def text_of(text: Callable[[], str]) -> str:
    """What the text says, or why it cannot be said."""
    try:
        return text()
    except Exception as error:
        return f"what was kept is not known: {type(error).__name__}: {error}"


def _kill_children() -> None:
    import ray  # noqa: F401  (it makes psutil importable)

    import psutil  # isort: skip

    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
