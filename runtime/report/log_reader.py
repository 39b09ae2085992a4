"""Reads the log of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.errors import InputError
from runtime.report.run_log import NAME, VERSION

# The fields that every valid line has.
NEEDED = ("version", "time", "began", "events", "queries", "groups", "model", "stages")


@dataclass(frozen=True)
class History:
    """The lines of the log in order, and what was wrong with the file."""

    path: Path
    lines: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    @property
    def last(self) -> dict[str, Any]:
        return self.lines[-1]

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The last line of each run: a job that was restarted has several. Counters that are not in
        the checkpoint start at zero with each of them."""
        found = {line.get("run", line["began"]): line for line in self.lines}
        return list(found.values())


def read_history(run: Path) -> History:
    """`run` is the folder of the results, or the file itself."""
    path = run / NAME if run.is_dir() else run
    try:
        text = path.read_text("utf-8", errors="replace")
    except FileNotFoundError as error:
        hint = "give the --output folder of `hamlet run`"
        raise InputError(f"{path} does not exist", hint) from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    lines, damaged = [], []
    written = text.splitlines()
    for number, each in enumerate(written, start=1):
        line = _line(each)
        if line is not None:
            lines.append(line)
        elif each.strip():
            damaged.append(number)
    if not lines:
        raise InputError(f"{path} has no valid line", "was the run stopped before its first epoch?")
    return History(path, lines, _notes(damaged, len(written)))


def _line(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or any(name not in found for name in NEEDED):
        return None
    if found["version"] != VERSION:
        raise InputError(
            f"the log has version {found['version']}; this Hamlet reads version {VERSION}",
            "use the version of Hamlet that made the run",
        )
    return found


def _notes(damaged: list[int], count: int) -> list[str]:
    if not damaged:
        return []
    if damaged == [count]:
        return ["the last line of the log is damaged and was skipped"]
    which = ", ".join(map(str, damaged[:5])) + (", ..." if len(damaged) > 5 else "")
    return [f"damaged lines of the log were skipped: {which}"]
