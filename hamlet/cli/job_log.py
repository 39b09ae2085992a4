"""Writes and reads the last line of a submitted job's log: its exit code, after a mark."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

#: The environment variable with the mark, which only the submitter knows.
MARK = "HAMLET_JOB_MARK"
#: The environment variable with the cluster that a run uses.
ADDRESS = "HAMLET_ADDRESS"


def log_exit_code(code: int) -> None:
    """Called last of all, by the job."""
    sys.stderr.flush()
    print(f"{os.environ.get(MARK, MARK)} {code}", flush=True)


class JobLog:
    """Reads the log of a job as it arrives. Passes whole lines to `write`, without the mark and
    what follows it."""

    def __init__(self, mark: str, write: Callable[[str], None]) -> None:
        self.code: int | None = None
        self.length = 0
        self._mark = re.compile(re.escape(mark) + r" (\d+)\n")
        self._write = write
        self._rest = ""

    def feed(self, text: str) -> None:
        self.length += len(text)
        lines = (self._rest + text).splitlines(keepends=True)
        whole = not lines or lines[-1].endswith("\n")
        self._rest = "" if whole else lines.pop()
        for line in lines:
            self._line(line)

    def end(self) -> None:
        """The log is complete: writes a last line that has no line end."""
        self._line(self._rest)
        self._rest = ""

    def _line(self, line: str) -> None:
        found = self._mark.search(line)
        if found is not None:
            self.code = int(found[1])
            line = line[: found.start()]
        if line:
            self._write(line)
