"""The log of a run: a line of facts now and then, in a file beside the results.

Facts are totals, so a line that is left out costs detail and nothing else. There is at most one a
second, and fewer where they are long: the file grows by a few hundred bytes a second at the most,
about 40 MB in a day.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from runtime.io.atomic import folder
from runtime.metrics.histogram import Histogram
from runtime.metrics.json_view import as_json
from runtime.metrics.snapshot import Facts, Noted

#: Names that begin with `_` are nobody's results.
NAME = "_run.jsonl"
VERSION = 1

EVERY_SECONDS = 1.0
# What a file may have after so many seconds: 4 MB at once, then 450 bytes a second.
FIRST_BYTES, BYTES_A_SECOND = 4 << 20, 450
# Of the decision log, so many new entries go with a line.
MOST_DECISIONS = 8


class RunLog:
    """Nothing that goes wrong here stops a run: then there is no report, and `warn` is told why.
    `lasting`: it is there from the first line on; else it appears when the run has ended, as its
    results do. `goes_on`: from a checkpoint, so what is there stays."""

    def __init__(
        self,
        output: Path,
        warn: Callable[[str], None] = lambda why: None,
        lasting: bool = False,
        goes_on: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = folder(output) / NAME
        self._waiting = self.path.with_name(f".{NAME}.{os.getpid()}.tmp")
        self._written = self.path if lasting else self._waiting
        self._warn = warn
        self._clock = clock
        self._began = clock()
        self._run = uuid.uuid4().hex[:12]  # two runs may begin within one tick of the clock
        self._size = 0
        self._last = 0.0
        self._noted = -1
        self._replanned = 0.0
        self._newest: Facts | None = None
        self._finished = False
        self._broken = False
        self._mode = "a" if goes_on else "w"  # that of an earlier run stays until there is a line
        if goes_on:
            self._take_up()

    def tell(self, facts: Facts) -> None:
        if facts.epochs == 0:  # a run that fails at once leaves nothing behind
            return
        self._newest = facts
        now = self._clock()
        if facts.finished or (now - self._last >= EVERY_SECONDS and self._size < self._may(now)):
            self._write(facts, now)

    def close(self) -> None:
        """How things stood at the end is always told."""
        if self._newest is not None:
            self._write(self._newest, self._clock())
        if self._written is self._waiting:
            self._appear()

    def _appear(self) -> None:
        if self._finished and not self._broken:
            try:
                self._waiting.replace(self.path)
            except OSError as error:
                self._give_up(error)
        with suppress(OSError):
            self._waiting.unlink(missing_ok=True)
            self.path.parent.rmdir()  # unless something is in it

    def _give_up(self, error: OSError) -> None:
        self._broken = True
        self._warn(f"no report of this run: {self.path}: {error.strerror or error}")

    def _may(self, now: float) -> float:
        return FIRST_BYTES + BYTES_A_SECOND * max(0.0, now - self._began)

    def _write(self, facts: Facts, now: float) -> None:
        self._newest = None
        self._finished = facts.finished
        if self._broken:
            return
        line = json.dumps(self._line(facts), separators=(",", ":"), allow_nan=False) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._written.open(self._mode, encoding="utf-8") as file:
                file.write(line)
            self._mode = "a"
        except OSError as error:
            self._give_up(error)
        self._size += len(line)
        self._last = now

    def _take_up(self) -> None:
        """A line that was cut off when the run was killed ends here, so that the next one begins
        on a line of its own."""
        try:
            with self.path.open("rb") as file:
                first = file.readline()
                self._size = file.seek(0, 2)
                file.seek(-1, 2)
                whole = file.read() == b"\n"
            self._began = float(json.loads(first)["began"])
        except (OSError, ValueError, KeyError, TypeError):
            return
        if not whole:
            with suppress(OSError), self.path.open("ab") as file:
                file.write(b"\n")

    # ---- a line ----------------------------------------------------------------------------

    def _line(self, facts: Facts) -> dict[str, Any]:
        found = {"version": VERSION, "run": self._run, **as_json(facts)}
        del found["drawings"], found["model"]["policies"]
        found["stages"] = {name: packed(each) for name, each in facts.stages.items()}
        found["queries"] = {
            name: {
                "results": each.results,
                "windows": each.windows,
                "latency": packed(each.latency),
            }
            for name, each in facts.queries.items()
        }
        found["log"] = [_decision(each) for each in self._new(facts)]
        replans = [each for each in facts.model.last_replans if each.time > self._replanned]
        found["model"]["last_replans"] = found["model"]["last_replans"][-len(replans) :]
        if not replans:
            found["model"]["last_replans"] = []
        self._replanned = max((each.time for each in replans), default=self._replanned)
        short: dict[str, Any] = _short(found)
        return short

    def _new(self, facts: Facts) -> list[Noted]:
        found = [each for each in facts.log if each.number > self._noted][-MOST_DECISIONS:]
        self._noted = max((each.number for each in found), default=self._noted)
        return found


def packed(histogram: Histogram) -> dict[str, Any]:
    """Without the zeros, of which there are many."""
    there = {place: count for place, count in enumerate(histogram.counts) if count}
    return {"counts": there, "sum": histogram.sum, "largest": histogram.largest}


def unpacked(data: dict[str, Any]) -> Histogram:
    found = Histogram(sum=float(data["sum"]), largest=float(data.get("largest", 0.0)))
    for place, count in data["counts"].items():
        found.counts[int(place)] = int(count)
    return found


def _decision(noted: Noted) -> dict[str, Any]:
    example = noted.example
    return {
        "group": noted.group,
        "epoch": noted.epoch,
        "time": noted.time,
        "type": example.type,
        "kind": example.kind,
        "told": example.told(),
    }


def _short(value: Any, name: str = "") -> Any:
    """Numbers to seven digits, since they are for curves; but times to a millisecond."""
    if isinstance(value, float):
        return round(value, 3) if name in ("time", "began") else float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _short(each, key) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    return value
