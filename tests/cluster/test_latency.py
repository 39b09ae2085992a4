"""The latency of each query, as Prometheus is told it, against a look from outside: from when a
file appears to when the results appear that its events were the last of."""

import time
from bisect import bisect_left
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa

from cluster.jobs import Asked, Watcher, driver_of
from cluster.streams import write_parquet
from runtime.language.parser import parse
from runtime.metrics.histogram import SECONDS
from spark_ingest.sinks.file_sink import PartsSink
from spark_ingest.sources.files import FileSource

# The windows of one close with every file, those of the other with the next but one.
TEXT = """
QUERY soon RETURN COUNT(*) AS n PATTERN A+ WITHIN 100 ms
QUERY later RETURN COUNT(*) AS n PATTERN SEQ(B, A+) WITHIN 300 ms
"""
FILES = 12


def rows(number: int) -> pa.Table:
    """Events from just after the start of a window of `soon` to just before its end. B comes in
    every third file, first."""
    times = [100 * number + offset for offset in (1, 30, 60, 99)]
    first = "B" if number % 3 == 0 else "A"
    return pa.table({"time": times, "type": [first, "A", "A", "A"]})


class Outside:
    """Notes when files of results appear."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stop = Event()
        self.seen: dict[str, list[float]] = {"soon": [], "later": []}
        self._thread = Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        known: set[Path] = set()
        while not self._stop.wait(0.002):
            for name, times in self.seen.items():
                for path in sorted((self._folder / f"{name}.parquet").glob("[!._]*")):
                    if path not in known:
                        known.add(path)
                        times.append(time.time())

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def test_latency_is_what_it_is_from_outside(spark, crew, tmp_path: Path):
    events, results = tmp_path / "events", tmp_path / "results"
    asked = Asked(parse(TEXT), events, unit="ms")
    events.mkdir()
    results.mkdir()
    appeared: list[float] = []

    def appear() -> None:
        number = len(appeared)
        if number < FILES:
            write_parquet(rows(number), events / f".{number:03d}")
            time.sleep(0.05 * (number % 4))
            appeared.append(time.time())
            (events / f".{number:03d}").rename(events / f"{number:03d}.parquet")

    appear()
    source = FileSource(spark, events, asked.needs, bounded=False, unit="ms")
    watcher = Watcher(lambda told: appear())
    sink = partial(PartsSink, results, "parquet", queries=["soon", "later"])
    driver, _ = driver_of(
        spark,
        crew(1),
        asked,
        source,
        tmp_path / "checkpoint",
        watcher,
        stopping=lambda: len(watcher.told) >= FILES,
        make_sink=sink,
    )
    outside = Outside(results)
    driver.run()
    time.sleep(0.1)
    outside.stop()

    # A window closes with the next file, and its last event was in the file before.
    for name, every in (("soon", 1), ("later", 3)):
        seen = outside.seen[name]
        last = [appeared[every * n + every - 1] for n in range(len(seen))]
        wanted = [shown - came for shown, came in zip(seen, last, strict=True)]
        found = driver.record.facts.queries[name]
        assert found.latency.count == found.windows == len(seen) == (FILES - 1) // every
        buckets = [
            bisect_left(SECONDS, value)
            for value, count in zip((*SECONDS, 1e9), found.latency.counts, strict=True)
            for _ in range(count)
        ]
        measured = sorted(bisect_left(SECONDS, value) for value in wanted)
        assert all(abs(a - b) <= 1 for a, b in zip(buckets, measured, strict=True))
        assert abs(found.latency.sum - sum(wanted)) < 0.05 * len(seen)


def test_files_that_are_read_together_came_one_by_one(spark, crew, tmp_path: Path):
    """As after an outage: the first of them has waited longest."""
    events, results = tmp_path / "events", tmp_path / "results"
    asked = Asked(parse(TEXT), events, unit="ms")
    events.mkdir()
    results.mkdir()
    appeared = []
    for number in range(5):
        write_parquet(rows(number), events / f".{number:03d}")
        (events / f".{number:03d}").rename(events / f"{number:03d}.parquet")
        appeared.append(time.time())
        time.sleep(0.7)
    source = FileSource(spark, events, asked.needs, bounded=False, unit="ms")
    watcher = Watcher()
    driver, _ = driver_of(
        spark,
        crew(1),
        asked,
        source,
        tmp_path / "checkpoint",
        watcher,
        stopping=lambda: len(watcher.told) >= 1,
        make_sink=partial(PartsSink, results, "parquet", queries=["soon", "later"]),
    )
    outside = Outside(results)
    driver.run()
    time.sleep(0.1)
    outside.stop()
    (shown,) = outside.seen["soon"]
    found = driver.record.facts.queries["soon"].latency
    assert found.count == 4
    assert abs(found.sum - sum(shown - came for came in appeared[:4])) < 0.2
    assert abs(found.largest - (shown - appeared[0])) < 0.1
