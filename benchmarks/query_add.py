"""Ten queries added to a running job: the slowest epoch around each, over the median before.

A job follows the ridesharing stream at 20,000 events per second. Once it is warm, queries are added
one after another: with the same Kleene part as others, with another one, with another grouping,
with an adjacent condition, under skip-till-next-match. The time of an epoch is the sum of its
stages. A gap is the time between two commits: epochs overlap, and a job may also wait between them.
The epochs around a query are those from its request to the tenth after its commit.

Fails if the slowest epoch or the longest gap is more than twice the median before, for any query.

With --cold, the cache of kernels is empty when the job starts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import _pipeline as pipeline
from hamlet.job.epoch_report import EpochReport
from runtime.errors import HamletError
from runtime.generate import generate
from runtime.language.parser import parse
from runtime.language.query import Query, Workload
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload

ROOT = Path(__file__).parents[1]
RATE, ROWS, KEPT_FILES = 20_000, 400_000, 400
# The longest window of the workload lasts a minute, most of them 20 s.
WARM_SECONDS, WARM_EPOCHS = 30.0, 60
AFTER = 10  #: epochs after the commit of a query
LIMIT = 2.0  #: of the ratio
BY_DISTRICT = "WHERE [driver, rider] GROUP-BY district WITHIN 20 seconds"
ADDED = f"""
QUERY same_part RETURN district, COUNT(*) AS n
PATTERN SEQ(Accept A, Travel T+, Dropoff D) {BY_DISTRICT}

QUERY same_part_sum RETURN district, SUM(T.speed) AS s
PATTERN SEQ(Request R, Travel T+, Cancel C) {BY_DISTRICT}

QUERY other_part RETURN district, COUNT(*) AS n
PATTERN SEQ(Pickup P+, Dropoff D) {BY_DISTRICT}

QUERY by_driver RETURN driver, COUNT(*) AS n
PATTERN SEQ(Request R, Travel T+) WHERE [driver] GROUP-BY driver WITHIN 20 seconds

QUERY adjacent RETURN district, COUNT(*) AS n
PATTERN SEQ(Accept A, Travel T+, Dropoff D)
WHERE [driver, rider] AND T.speed < NEXT(T).speed GROUP-BY district WITHIN 20 seconds

QUERY next_match RETURN district, COUNT(*) AS n
PATTERN SEQ(Pickup P, Travel T+, Dropoff D) SEMANTICS skip-till-next-match {BY_DISTRICT}

QUERY sliding RETURN district, COUNT(*) AS n
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE [driver, rider] GROUP-BY district WITHIN 30 seconds SLIDE 10 seconds

QUERY condition RETURN district, COUNT(*) AS n, MAX(T.speed) AS most
PATTERN SEQ(Accept A, Travel T+, Pickup P)
WHERE [driver, rider] AND T.speed < 20 GROUP-BY district WITHIN 20 seconds

QUERY by_rider RETURN rider, COUNT(*) AS n
PATTERN SEQ(Request R, Travel T+) WHERE [rider] GROUP-BY rider WITHIN 20 seconds

QUERY negation RETURN district, COUNT(*) AS n
PATTERN SEQ(Request R, SEQ(NOT Pickup P, Travel T)+, Cancel C) {BY_DISTRICT}
"""


def run(progress: Callable[[str], None], cold: bool = False) -> dict[str, Any]:
    if cold:
        return _run_cold(progress)
    workload = parse((ROOT / "examples" / "ridesharing" / "workload.sase").read_text())
    rides = pa.Table.from_batches(generate("ridesharing", events=ROWS, seed=1))
    epochs = _Epochs()
    added = _Additions(parse(ADDED), epochs, progress)
    with pipeline.scratch() as scratch:
        progress("starting Ray and Spark")
        with pipeline.started() as job:
            feed = pipeline.Feed(rides, scratch / "rides", RATE, keep=KEPT_FILES)
            job.run(
                scratch / "rides",
                workload,
                scratch / "job",
                bounded=False,
                stopping=added.is_done,
                watcher=epochs,
                changes=added,
            )
            feed.end()
    return added.figures()


def _run_cold(progress: Callable[[str], None]) -> dict[str, Any]:
    """In a process of its own: numba reads the name of its cache when it is imported."""
    progress("compiling kernels into an empty cache")
    with tempfile.TemporaryDirectory(prefix="hamlet-cold-") as cache:
        there = {"HAMLET_CACHE": cache, "NUMBA_CACHE_DIR": str(Path(cache) / "numba")}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.query_add"],
            cwd=ROOT,
            env={**os.environ, **there},
            stdout=subprocess.PIPE,
            check=False,
        )
    if done.returncode:
        raise HamletError(f"the job failed with exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass
class _Addition:
    query: Query
    asked: int  #: how many epochs were committed then
    began: float
    seconds: float = 0.0  #: until it was committed
    committed: int = 0


class _Epochs(pipeline.Quiet):
    """Keeps the time of every epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.stages: list[dict[str, float]] = []
        self.moments: list[float] = []  #: of their commits

    def committed(self, told: EpochReport) -> None:
        super().committed(told)
        self.stages.append(dict(told.stages))
        self.moments.append(time.monotonic())


class _Additions:
    """Asks for one query after another."""

    def __init__(self, queries: Workload, epochs: _Epochs, progress: Callable[[str], None]) -> None:
        self._waiting = deque(queries)
        self._epochs = epochs
        self._progress = progress
        self._made: list[_Addition] = []

    # ---- what the driver asks for ------------------------------------------------------------

    def next(self, bound_workload: BoundWorkload) -> WorkloadChange | None:
        if not (self._waiting and self._is_settled()):
            return None
        query = self._waiting.popleft()
        self._progress(f"adding {query.name}")
        self._made.append(_Addition(query, self._epochs.epochs, time.monotonic()))
        return WorkloadChange((query,))

    def committed(self, change: WorkloadChange, epoch: int) -> None:
        """Its epoch is reported right after this."""
        last = self._made[-1]
        last.seconds = time.monotonic() - last.began
        last.committed = self._epochs.epochs + 1
        self._progress(f"added {last.query.name} after {last.seconds:.1f} s")

    def refused(self, change: WorkloadChange, reason: HamletError) -> None:
        raise reason

    def is_done(self) -> bool:
        return not self._waiting and self._is_settled()

    def _is_settled(self) -> bool:
        if self._made:
            last = self._made[-1]
            return bool(last.committed) and self._epochs.epochs >= last.committed + AFTER
        warm = self._epochs.epochs >= WARM_EPOCHS
        return warm and self._epochs.moments[-1] - self._epochs.moments[0] > WARM_SECONDS

    # ---- the figures -------------------------------------------------------------------------

    def figures(self) -> dict[str, Any]:
        times = [sum(each.values()) for each in self._epochs.stages]
        gaps = gaps_of(self._epochs.moments)
        first = self._made[0].asked
        before = slice(first - WARM_EPOCHS // 2, first)
        epoch, gap = statistics.median(times[before]), statistics.median(gaps[before])
        around = [self._around(each, times, gaps, epoch, gap) for each in self._made]
        return {
            "epoch_seconds_before": epoch,
            "slowest_before": max(times[before]),
            "slowest_ratio": max(each["ratio"] for each in around),
            "gap_seconds_before": gap,
            "longest_gap_before": max(gaps[before]),
            "longest_gap_ratio": max(each["gap_ratio"] for each in around),
            "added": around,
        }

    def _around(
        self, added: _Addition, times: list[float], gaps: list[float], epoch: float, gap: float
    ) -> dict[str, Any]:
        """`epoch` and `gap` are the medians before."""
        epochs = range(added.asked, added.committed + AFTER)
        slowest = max(epochs, key=times.__getitem__)
        longest_gap = max(gaps[number] for number in epochs)
        stage, seconds = max(self._epochs.stages[slowest].items(), key=lambda each: each[1])
        return {
            "query": added.query.name,
            "seconds_to_commit": added.seconds,
            "epoch_before": epoch,
            "slowest_epoch": times[slowest],
            "ratio": times[slowest] / epoch,
            "longest_stage": f"{stage} {seconds:.2f}",
            "longest_gap": longest_gap,
            "gap_ratio": longest_gap / gap,
        }


def gaps_of(moments: list[float]) -> list[float]:
    """How long before each commit the last one was."""
    return [0.0, *(after - before for before, after in pairwise(moments))]


def judge(result: dict[str, Any]) -> None:
    """Raises if a query held the stream up; called when all of them have been shown."""
    lines = []
    for each in result["added"]:
        if each["ratio"] > LIMIT:
            lines.append(
                f"{each['query']}: an epoch of {each['ratio']:.1f} times the median before "
                f"({each['longest_stage']} s)"
            )
        if each["gap_ratio"] > LIMIT:
            lines.append(
                f"{each['query']}: {each['gap_ratio']:.1f} times the median before "
                f"between two commits ({each['longest_gap']:.2f} s)"
            )
    if lines:
        raise HamletError(
            f"an added query may slow epochs down to {LIMIT:g} times at most:\n  "
            + "\n  ".join(lines)
        )


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = result["added"]
    return found


if __name__ == "__main__":
    print(json.dumps(run(lambda what: print(what, file=sys.stderr))))
