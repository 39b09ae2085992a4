"""An unbounded stream: the memory of every process over an hour of 20,000 events per second.

A job with 50 queries that share, the optimizer, checkpoints and metrics follows a folder. Files and
keys come and go, windows last a second, and every query has results. The private memory of each
process of the job (the driver, actors, Ray's servers, each Java process) is sampled every 5 s.
What they share is the object store.

The first half is warming up. The trend of the second half is the median slope between two of its
samples. A process is flat if this trend adds less than 5 MB or 2.5 % to it within the half,
whichever is more. The benchmark fails if a process is not flat, or ended, or was not seen.

HAMLET_BENCH_MINUTES (60) sets the duration. Less than half an hour says little: Java takes its time
to grow into its memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import _pipeline as pipeline
from benchmarks._environment import number
from benchmarks._soak import growth, job
from benchmarks._soak.job import Job
from benchmarks._soak.processes import Memory
from runtime.errors import HamletError

MINUTES = number("MINUTES", 60.0)
RATE = 20_000
WINDOW = 1_000_000
SPAN = 50_000  #: of the times in a file, in microseconds
EVERY_SECONDS = 5.0
KEPT_FILES = 400


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    workload, rows = pipeline.steady(RATE, WINDOW)
    with pipeline.scratch() as scratch:
        source = scratch / "steady"
        feed = pipeline.Feed(rows, source, RATE, SPAN)
        try:
            progress("starting Ray and Spark")
            with job.started(scratch, source, workload.source.text) as running:
                running.await_events()
                memory = _watched(running, source, progress)
                done = running.metrics()
                running.stop()
        finally:
            feed.end()
    if done is None:
        raise HamletError("the page of the job did not answer at its end")
    summary = job.summary(done)
    progress(", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in summary.items()))
    found = growth.growths(memory.series, memory.moments)
    return {"minutes": MINUTES, **summary, "processes": growth.as_rows(found)}


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "process": row["kind"],
            "pid": str(row["pid"] or ""),
            "MB": row["mb"],
            "MB per hour": row["mb_per_hour"],
            "% per hour": 100 * row["part_per_hour"],
            "flat": "yes" if row["flat"] else "no",
        }
        for row in result["processes"]
    ]


def judge(result: dict[str, Any]) -> None:
    """Raises if a process is not flat; called when all of them have been shown."""
    found = [*growth.problems(result["processes"]), *job.problems(result)]
    if found:
        raise HamletError("memory is not flat, or not all was measured:\n  " + "\n  ".join(found))


def _watched(running: Job, source: Path, progress: Callable[[str], None]) -> Memory:
    """For as long as asked, with a line each minute."""
    memory, began, shown = Memory(running.pid), time.monotonic(), 0
    while (passed := time.monotonic() - began) < 60 * MINUTES:
        running.check()
        memory.sample(passed)
        known = running.metrics()
        if known is not None:
            remove_read(source, known["newest"])
        if int(passed / 60) > shown:
            shown = int(passed / 60)
            progress(f"{shown} min: {_line(known, memory)}")
        time.sleep(EVERY_SECONDS)
    memory.sample(time.monotonic() - began)
    return memory


def _line(known: dict[str, Any] | None, memory: Memory) -> str:
    mb, processes = memory.now
    line = f"{mb:,.0f} MB in {processes} processes"
    if known is None:
        return f"{line}; the page does not answer"
    return f"{line}, {known['events']:,} events in {known['epochs']:,} epochs"


def remove_read(source: Path, newest: int) -> None:
    """Removes the files that were read, up to some before the one with the newest event. A job that
    falls behind loses nothing."""
    for path in source.glob("*.parquet"):
        if int(path.stem) < newest // SPAN - KEPT_FILES:
            path.unlink()
