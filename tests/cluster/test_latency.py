"""The latency of each query, as Prometheus is told it, against a look from outside: from when a
file appears to when the results appear that its events were the last of."""

import time
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa

from cluster.jobs import JobInput, Watcher, driver_of
from cluster.streams import write_parquet
from hamlet.job.epoch_report import EpochReport
from runtime.language.parser import parse
from runtime.metrics.histogram import SECONDS
from spark_ingest.sinks.file_sink import FileSink, RollingPolicy
from spark_ingest.sources.files import FileSource

# The windows of one close with every file, those of the other with the next but one.
TEXT = """
QUERY soon RETURN COUNT(*) AS n PATTERN A+ WITHIN 100 ms
QUERY later RETURN COUNT(*) AS n PATTERN SEQ(B, A+) WITHIN 300 ms
"""
FILES = 12

EVERY_EPOCH = RollingPolicy(seconds=0.0)


def rows(number: int) -> pa.Table:
    """Events from just after the start of a window of `soon` to just before its end. B comes in
    every third file, first."""
    times = [100 * number + offset for offset in (1, 30, 60, 99)]
    first = "B" if number % 3 == 0 else "A"
    return pa.table({"time": times, "type": [first, "A", "A", "A"]})


def appeared(folder: Path) -> list[float]:
    """When files got their names, by the file system's clock."""
    return [path.stat().st_ctime for path in sorted(folder.glob("[!._]*"))]


class Committed(Watcher):
    """Notes when it is told of an epoch, which is when its results have been published."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        super().__init__(lambda report: then())
        self.times: list[float] = []

    def committed(self, report: EpochReport) -> None:
        self.times.append(time.time())
        super().committed(report)

    def after(self, moment: float) -> float:
        return next(each for each in self.times if each >= moment)


def test_latency_is_what_it_is_from_outside(spark, actor_pool, tmp_path: Path):
    events, results = tmp_path / "events", tmp_path / "results"
    asked = JobInput(parse(TEXT), events, unit="ms")
    events.mkdir()
    results.mkdir()
    numbers = iter(range(FILES))

    def appear() -> None:
        number = next(numbers, None)
        if number is not None:
            write_parquet(rows(number), events / f".{number:03d}")
            time.sleep(0.05 * (number % 4))  # written before it is there
            (events / f".{number:03d}").rename(events / f"{number:03d}.parquet")

    appear()
    source = FileSource(spark, events, asked.needs, bounded=False, unit="ms")
    watcher = Committed(appear)
    sink = partial(FileSink, results, "parquet", ["soon", "later"], EVERY_EPOCH)
    driver, _ = driver_of(
        spark,
        actor_pool(1),
        asked,
        source,
        tmp_path / "checkpoint",
        watcher,
        stopping=lambda: len(watcher.reports) >= FILES,
        make_sink=sink,
    )
    driver.run()

    # A window closes with the next file, and its last event was in the file before.
    came = appeared(events)
    for name, every in (("soon", 1), ("later", 3)):
        shown = appeared(results / f"{name}.parquet")
        last = [came[every * n + every - 1] for n in range(len(shown))]
        # A window was published after its file had its name, and before the job told of it.
        least = [out - into for out, into in zip(shown, last, strict=True)]
        most = [watcher.after(out) - into for out, into in zip(shown, last, strict=True)]
        found = driver.recorder.snapshot.queries[name]
        assert found.latency.count == found.windows == len(shown) == (FILES - 1) // every
        assert sum(least) <= found.latency.sum <= sum(most)
        buckets = [
            bisect_left(SECONDS, value)
            for value, count in zip((*SECONDS, 1e9), found.latency.counts, strict=True)
            for _ in range(count)
        ]
        for low, bucket, high in zip(sorted(least), buckets, sorted(most), strict=True):
            assert bisect_left(SECONDS, low) <= bucket <= bisect_left(SECONDS, high)


def test_files_that_are_read_together_came_one_by_one(spark, actor_pool, tmp_path: Path):
    """As after an outage: the first of them has waited longest."""
    events, results = tmp_path / "events", tmp_path / "results"
    asked = JobInput(parse(TEXT), events, unit="ms")
    events.mkdir()
    results.mkdir()
    for number in range(5):
        write_parquet(rows(number), events / f".{number:03d}")
        (events / f".{number:03d}").rename(events / f"{number:03d}.parquet")
        time.sleep(0.7)  # so that their latencies differ
    source = FileSource(spark, events, asked.needs, bounded=False, unit="ms")
    watcher = Committed()
    driver, _ = driver_of(
        spark,
        actor_pool(1),
        asked,
        source,
        tmp_path / "checkpoint",
        watcher,
        stopping=lambda: len(watcher.reports) >= 1,
        make_sink=partial(FileSink, results, "parquet", ["soon", "later"], EVERY_EPOCH),
    )
    driver.run()
    (shown,) = appeared(results / "soon.parquet")
    came = appeared(events)
    found = driver.recorder.snapshot.queries["soon"].latency
    assert found.count == 4
    assert sum(shown - each for each in came[:4]) <= found.sum
    assert found.sum <= sum(watcher.after(shown) - each for each in came[:4])
    assert shown - came[0] <= found.largest <= watcher.after(shown) - came[0]
