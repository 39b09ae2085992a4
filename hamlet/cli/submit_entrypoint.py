"""What `hamlet submit` starts on the cluster: the command, and in the end a line with its code.

Ray tells of a job only whether it failed. So the last thing in its log is the exit code, behind a
mark that only the one who submitted the job knows. `Log` reads it on the other side.
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
    # A run that is submitted to a cluster works on that cluster.
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


class Log:
    """A job's log as it comes in: whole lines go to `write`, the mark and what follows do not."""

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
        """There is no more: a last line without its end is shown too."""
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
