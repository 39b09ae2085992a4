"""Turns totals into curves: how much was added between two lines of the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.metrics.histogram import Histogram
from runtime.report.run_log import unpacked

Line = dict[str, Any]
# Points of a curve; more would not be visible.
MOST_POINTS = 240


@dataclass(frozen=True)
class Series:
    name: str
    values: list[float | None]
    look: str = ""


@dataclass(frozen=True)
class Times:
    """Lines of the log, thinned to what a plot can show. `seconds` are since the first one."""

    lines: list[Line]
    seconds: list[float] = field(default_factory=list)


def thinned(lines: Sequence[Line]) -> Times:
    """Keeps the first line, and the last one of each run."""
    step = max(1, -(-len(lines) // MOST_POINTS))
    ends = {id(line) for line in {each["began"]: each for each in lines}.values()}
    kept = [line for n, line in enumerate(lines) if n % step == 0 or id(line) in ends]
    first = min(lines[0]["began"], lines[0]["time"])
    return Times(kept, [line["time"] - first for line in kept])


def grown(times: Times, total: Callable[[Line], float], lasting: bool = False) -> list[float]:
    """What each line added to a total. A total starts at zero with each run, unless it is
    `lasting`: then it continues across runs."""
    found, before, run = [], 0.0, None
    for line in times.lines:
        if line["began"] != run and not (lasting and run is not None):
            before = 0.0
        run = line["began"]
        now = total(line)
        found.append(max(0.0, now - before))
        before = now
    return found


def rate(times: Times, total: Callable[[Line], float], lasting: bool = False) -> list[float | None]:
    """What was added per second."""
    found: list[float | None] = []
    before = None
    for line, added in zip(times.lines, grown(times, total, lasting), strict=True):
        since = line["time"] - (line["began"] if before is None else before)
        before = line["time"]
        found.append(added / since if since > 0 else None)
    return found


def standing(times: Times, value: Callable[[Line], float | None]) -> list[float | None]:
    return [value(line) for line in times.lines]


def quotient(above: list[float], below: list[float]) -> list[float | None]:
    return [a / b if b else None for a, b in zip(above, below, strict=True)]


def added_up(runs: Sequence[Line], find: Callable[[Line], Histogram]) -> Histogram:
    """The merged histogram of all runs of a job."""
    found = Histogram()
    for line in runs:
        found.merge(find(line))
    return found


def latency_of(query: str | None, line: Line) -> Histogram:
    """The latency of a query, or of all queries together."""
    found = Histogram()
    for name, each in line["queries"].items():
        if query in (None, name):
            found.merge(unpacked(each["latency"]))
    return found


def stage_of(name: str, line: Line) -> Histogram:
    return unpacked(line["stages"][name]) if name in line["stages"] else Histogram()


def count_decisions(kind: str, line: Line) -> float:
    return float(sum(each[kind] for group in line["groups"] for each in group["types"]))


def of_model(name: str, line: Line) -> float | None:
    """A value of the cost model at that moment."""
    found: float | None = line["model"][name]
    return found


def total_of_model(name: str, line: Line) -> float:
    return of_model(name, line) or 0.0
