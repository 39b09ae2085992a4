"""Writes the log of a run: snapshots of its metrics, one on each line, beside the results.

Snapshots hold totals, so skipping one loses detail and nothing else. There is at most one line a
second, and fewer if lines are long: the file grows by a few hundred bytes a second at most, about
40 MB in a day.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runtime.io.atomic import check_folder, open_private, unfinished
from runtime.metrics.histogram import Histogram
from runtime.metrics.json_view import snapshot_json
from runtime.metrics.snapshot import DecisionLogEntry, MetricsSnapshot

#: Readers of the results ignore names that begin with `_`.
NAME = "_run.jsonl"
VERSION = 2

EVERY_SECONDS = 1.0
# The most that a file may hold: 4 MB at once, then 450 bytes a second.
FIRST_BYTES, BYTES_A_SECOND = 4 << 20, 450
# How many new entries of the decision log a line holds.
MOST_DECISIONS = 8


class RunLog:
    """An error here never stops a run: `warn` says why there will be no report. With `lasting` the
    file exists from its first line on; otherwise it appears when the run ends, as its results do.
    With `goes_on` the run continues from a checkpoint, and appends."""

    def __init__(
        self,
        output: Path,
        warn: Callable[[str], None] = lambda why: None,
        lasting: bool = False,
        goes_on: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = check_folder(output) / NAME
        self._waiting = unfinished(self.path)
        self._written = self.path if lasting else self._waiting
        self._warn = warn
        self._clock = clock
        self._began = clock()
        self._run = uuid.uuid4().hex[:12]  # two runs may start within one tick of the clock
        self._size = 0
        self._last = 0.0
        self._logged = -1
        self._replanned = 0.0
        self._newest: MetricsSnapshot | None = None
        self._finished = False
        self._broken = False
        self._mode = "a" if goes_on else "w"  # an old file is replaced with the first line
        if goes_on:
            self._continue()

    def update(self, snapshot: MetricsSnapshot) -> None:
        if snapshot.epochs == 0:  # a run that fails at once leaves nothing behind
            return
        self._newest = snapshot
        now = self._clock()
        due = now - self._last >= EVERY_SECONDS and self._size < self._most_bytes(now)
        if snapshot.finished or due:
            self._write(snapshot, now)

    def close(self) -> None:
        """Writes the last snapshot in any case."""
        if self._newest is not None:
            self._write(self._newest, self._clock())
        if self._written is self._waiting:
            self._publish()

    def _publish(self) -> None:
        if self._finished and not self._broken:
            try:
                self._waiting.replace(self.path)
            except OSError as error:
                self._give_up(error)
        with suppress(OSError):
            self._waiting.unlink(missing_ok=True)
            self.path.parent.rmdir()  # fails unless it is empty

    def _give_up(self, error: OSError) -> None:
        self._broken = True
        self._warn(f"no report of this run: {self.path}: {error.strerror or error}")

    def _most_bytes(self, now: float) -> float:
        return FIRST_BYTES + BYTES_A_SECOND * max(0.0, now - self._began)

    def _write(self, snapshot: MetricsSnapshot, now: float) -> None:
        self._newest = None
        self._finished = snapshot.finished
        if self._broken:
            return
        line = json.dumps(self._line(snapshot), separators=(",", ":"), allow_nan=False) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._written, self._mode, encoding="utf-8", opener=open_private) as file:
                if self._mode == "w":  # an old file keeps its mode otherwise
                    os.fchmod(file.fileno(), 0o600)
                file.write(line)
            self._mode = "a"
        except OSError as error:
            self._give_up(error)
        self._size += len(line)
        self._last = now

    def _continue(self) -> None:
        """Ends a line that was cut off when the run was killed, so that the next one starts on a
        line of its own."""
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

    def _line(self, snapshot: MetricsSnapshot) -> dict[str, Any]:
        found = {"version": VERSION, "run": self._run, **snapshot_json(snapshot, packed)}
        del found["drawings"], found["model"]["policies"]
        found["log"] = [_decision(each) for each in self._new_decisions(snapshot)]
        replans = [each for each in snapshot.model.last_replans if each.time > self._replanned]
        found["model"]["last_replans"] = [asdict(each) for each in replans]
        self._replanned = max((each.time for each in replans), default=self._replanned)
        short: dict[str, Any] = _short(found)
        return short

    def _new_decisions(self, snapshot: MetricsSnapshot) -> list[DecisionLogEntry]:
        found = [each for each in snapshot.log if each.number > self._logged][-MOST_DECISIONS:]
        self._logged = max((each.number for each in found), default=self._logged)
        return found


def packed(histogram: Histogram) -> dict[str, Any]:
    """Without its zeros, since most counts are zero."""
    there = {place: count for place, count in enumerate(histogram.counts) if count}
    return {"counts": there, "sum": histogram.sum, "largest": histogram.largest}


def unpacked(data: dict[str, Any]) -> Histogram:
    found = Histogram(sum=float(data["sum"]), largest=float(data.get("largest", 0.0)))
    for place, count in data["counts"].items():
        found.counts[int(place)] = int(count)
    return found


def _decision(entry: DecisionLogEntry) -> dict[str, Any]:
    example = entry.example
    return {
        "group": entry.group,
        "epoch": entry.epoch,
        "time": entry.time,
        "type": example.type,
        "kind": example.kind,
        "text": example.describe(),
    }


def _short(value: Any, name: str = "") -> Any:
    """Rounds numbers to seven digits, enough for plots, and times to a millisecond."""
    if isinstance(value, float):
        return round(value, 3) if name in ("time", "began") else float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _short(each, key) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    return value
