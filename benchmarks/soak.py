"""An unbounded stream: memory of all processes over half an hour of 20,000 events per second.

The resident memory of the driver, the actors and Spark's Java processes is sampled every few
seconds. The figure is the mean of the last third over that of the second, so that warming up does
not count: flat is 1. Files and keys come and go, windows last a second, and every query has
results.

HAMLET_BENCH_MINUTES (30) sets the duration.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psutil

from benchmarks import _pipeline as pipeline
from benchmarks._environment import number

MINUTES = number("MINUTES", 30.0)
RATE = 20_000
WINDOW = 1_000_000
EVERY_SECONDS = 5.0
KEPT_FILES = 400


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    workload, rows = pipeline.steady(RATE, WINDOW)
    with pipeline.scratch() as scratch:
        progress("starting Ray and Spark")
        with pipeline.started() as job:
            feed = pipeline.Feed(rows, scratch / "steady", RATE, keep=KEPT_FILES)
            ended = threading.Event()
            threading.Timer(60 * MINUTES, ended.set).start()
            sampler = _Sampler(progress)
            sampler.start()
            watcher = job.run(
                scratch / "steady",
                workload,
                scratch / "job",
                bounded=False,
                stopping=ended.is_set,
            )
            sampler.end()
            feed.end()
    events = 0 if watcher.last is None else watcher.last.counts.events
    return {"minutes": MINUTES, "events": events, **sampler.figures()}


class _Sampler(threading.Thread):
    def __init__(self, progress: Callable[[str], None]) -> None:
        super().__init__(name="sampler", daemon=True)
        self._progress = progress
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._samples: list[dict[str, float]] = []

    def run(self) -> None:
        shown = 0
        while not self._ended.wait(EVERY_SECONDS):
            self._samples.append(_memory())
            minute = int((time.monotonic() - self._began) / 60)
            if minute > shown:
                shown = minute
                total = sum(self._samples[-1].values())
                self._progress(f"{minute} min: {total:,.0f} MB")

    def end(self) -> None:
        self._ended.set()
        self.join()

    def figures(self) -> dict[str, float]:
        third = max(1, len(self._samples) // 3)
        before, after = self._samples[third : 2 * third], self._samples[2 * third :]
        found = {}
        for name in ("python", "java", "object store"):
            one, other = (_mean(part, name) for part in (before, after))
            found[f"{name.replace(' ', '_')}_mb"] = other
            found[f"{name.replace(' ', '_')}_growth"] = other / one if one else 1.0
        total = [sum(_mean(part, n) for n in ("python", "java")) for part in (before, after)]
        return {"memory_growth": total[1] / total[0], **found}


def _mean(samples: list[dict[str, float]], name: str) -> float:
    return sum(each[name] for each in samples) / max(1, len(samples))


def _memory() -> dict[str, float]:
    """MB of private memory by kind of process, and of the object store they share."""
    found = {"python": 0.0, "java": 0.0, "object store": 0.0}
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            info, name = process.memory_info(), process.name()
        except psutil.Error:
            continue
        kind = "java" if "java" in name else "python"
        found[kind] += (info.rss - info.shared) / 1e6
        found["object store"] = max(found["object store"], info.shared / 1e6)
    return found


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"measure": name, "value": value} for name, value in result.items()]
