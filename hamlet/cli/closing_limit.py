"""Ends a job by force that does not close: a process that hangs may keep it from that for ever.

The watchdog has stopped by then, since the processes of a job that closes end on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import TracebackType

from hamlet.cli.deadline import END_SECONDS, Deadline, ForcedEnd
from hamlet.cli.exit_codes import FAILURE, INTERRUPTED, USER_ERROR
from hamlet.job.job_run import JobOutcome
from runtime.errors import is_user_error


class ClosingLimit:
    """A job must close within the context, and in a minute from `begin` on."""

    def __init__(
        self,
        deadline: Deadline,
        text: Callable[[BaseException | JobOutcome], str],
        received: Callable[[], int | None],
    ) -> None:
        """`text` is the last lines, with the reason why the job closes. `received` is the signal
        that stopped it."""
        self._deadline, self._text, self._received = deadline, text, received
        self._end: ForcedEnd | None = None

    def begin(self, reason: BaseException | JobOutcome) -> None:
        """The job has ended, or failed with an error."""
        signal = self._received()
        code = _code_of(reason) if signal is None else 128 + signal
        self._end = self._deadline.start(END_SECONDS, code, partial(self._lines, reason))

    def _lines(self, reason: BaseException | JobOutcome) -> str:
        forced = f"the job did not close within {END_SECONDS:g} s; it was ended by force"
        return f"{forced}\n{self._text(reason)}"

    def __enter__(self) -> ClosingLimit:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._end is not None:
            self._deadline.withdraw(self._end)


def _code_of(reason: BaseException | JobOutcome) -> int:
    if isinstance(reason, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(reason, SystemExit) and isinstance(reason.code, int):
        return reason.code
    return USER_ERROR if is_user_error(reason) else FAILURE
