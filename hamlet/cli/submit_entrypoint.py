"""The process that `hamlet submit` starts on the cluster: runs a command and logs its exit code.

Ray reports only whether a job failed. So the last line of the job's log is the exit code, after a
mark that only the submitter knows. `JobLog` reads it on the other side.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

MARK = "HAMLET_JOB_MARK"
ADDRESS = "HAMLET_ADDRESS"


def main() -> None:
    code: object = None
    # A submitted run uses the cluster that it was submitted to.
    os.environ.setdefault(ADDRESS, os.environ.get("RAY_ADDRESS", "auto"))
    try:
        from hamlet.cli import main as hamlet

        hamlet()
    except SystemExit as end:
        code = end.code
        raise
    finally:
        number = code if isinstance(code, int) else int(code is not None)
        sys.stderr.flush()
        print(f"{os.environ.get(MARK, MARK)} {number}", flush=True)


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


if __name__ == "__main__":
    main()
