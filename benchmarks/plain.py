"""The exact engine: against building the trends, with more queries, and its peak memory.

Every figure except the peaks is a ratio of two times measured in this run, one after the other, on
the same events. `two_step` builds every trend and then aggregates it. It is as simple as the engine
it is compared with.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from runtime.generate import generate
from runtime.pipeline.engine import aggregate

TRENDS = "RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WITHIN 1 day"
SESSIONS = """
RETURN district, COUNT(*), AVG(T.speed)
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE [driver, rider]
GROUP-BY district
WITHIN 1 minute
"""


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    progress("building every trend of 20 events, against counting them")
    result: dict[str, Any] = {"two_step_over_plain_20_events": _two_step_ratio(20)}
    progress("ten queries against one, over 50,000 events")
    result["ten_queries_over_one"] = _queries_ratio(50_000, 10)
    for millions in (1, 4):
        progress(f"peak memory of `hamlet run --numeric exact` over {millions} million events")
        result[f"peak_mb_{millions}m_events"] = peak_megabytes(millions * 1_000_000)
    result["peak_4m_over_1m"] = result["peak_mb_4m_events"] / result["peak_mb_1m_events"]
    return result


def _two_step_ratio(events: int) -> float:
    types = ["A"] + ["B"] * (events - 1)
    x = list(range(events))
    table = pa.table({"time": x, "type": types, "x": x})
    (found,) = aggregate(TRENDS, table, numeric="exact").values()
    plain = _seconds(lambda: aggregate(TRENDS, table, numeric="exact"))
    built: list[tuple[int, int]] = []
    two_step = _seconds(lambda: built.append(_two_step(types, x)))
    row = found.to_pylist()[0]
    assert (row["COUNT(*)"], row["SUM(B.x)"]) == tuple(map(str, built[0]))
    return two_step / plain


def _two_step(types: list[str], x: list[int]) -> tuple[int, int]:
    trends = [t for start in range(len(types)) if types[start] == "A" for t in _grow(types, start)]
    return len(trends), sum(x[i] for trend in trends for i in trend[1:])


def _grow(types: list[str], start: int) -> Iterator[tuple[int, ...]]:
    """Every sequence A, B+ that begins at an event, by depth-first search."""
    stack: list[tuple[int, ...]] = [(start,)]
    while stack:
        trend = stack.pop()
        if len(trend) > 1:
            yield trend
        stack += [(*trend, i) for i in range(trend[-1] + 1, len(types)) if types[i] == "B"]


def _queries_ratio(events: int, queries: int) -> float:
    table = pa.Table.from_batches(list(generate("ridesharing", events=events, seed=1)))
    one = _seconds(lambda: aggregate(SESSIONS, table))
    many = _seconds(lambda: aggregate(SESSIONS * queries, table))
    return many / one


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_megabytes(events: int) -> float:
    """The most memory that a whole `hamlet run` takes, as its process reports it."""
    with tempfile.TemporaryDirectory() as folder:
        workload = Path(folder) / "workload.sase"
        workload.write_text(SESSIONS, encoding="utf-8")
        hamlet = Path(sys.executable).with_name("hamlet")
        command = [str(hamlet), "run", str(workload), "--numeric", "exact"]
        command += ["--engine", "local", "--input", f"generate:ridesharing?events={events}&seed=1"]
        command += ["--output", str(Path(folder) / "out"), "--quiet"]
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"`hamlet run` ended with {process.returncode}")
        return usage.ru_maxrss / 1024
