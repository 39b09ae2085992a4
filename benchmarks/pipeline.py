"""The whole pipeline on Ray and Spark, against Spark alone: throughput and time to a result.

Throughput: 10 million events with string keys in 20 Parquet files, 50 queries, from reading to
result files and checkpoints. The baseline is Spark alone, which reads the same files as a stream of
micro-batches of 500,000 rows and discards them (also with repartitioning by key and sorting). All
take turns in one run, warm, and the best times count. The `at_once` figures are for Spark reading
all files in one batch job. That is not a stream, so it is not a target, but it shows how fast Spark
can be.

Latency: 20,000 events per second arrive in a folder, one file every 53 ms, so that windows of a
second end anywhere within a file. The figure is the time from the arrival of the file with a
window's last event to the file with its results, over the median trigger of Spark alone on the same
stream. The `apart` figure is for files that end with windows, every 50 ms. The event that closes a
window is then always in the next file, and the figure includes those 50 ms.

Cold: `hamlet run --output` over all events in one file, from the command to its exit, over a script
that starts the same Ray and Spark and lets Spark alone read the same columns into Arrow. Kernels
are compiled before, as for anyone who runs the same queries a second time.

Driver: on two Ray nodes, of which the driver has one to itself, what the driver's node receives
while the job runs, over the size of the input files. What Ray and Spark send to it as they start is
a figure of its own. The queries have few results, which are included.

Sharing: CPU time of the aggregators for 50 queries over a stream that changes from bursts that are
worth sharing to those that are not, with `--sharing dynamic` over `never` and over `always`, after
a turn of each that does not count.

HAMLET_BENCH_EVENTS sets the size, HAMLET_BENCH_REPEATS (3) the number of repeats.
"""

from __future__ import annotations

import os
import statistics
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import _aggregator_cpu, _cold_run, _driver_bytes, _run
from benchmarks import _pipeline as pipeline
from benchmarks import _streams as streams
from benchmarks._environment import whole
from runtime.language.query import Workload

EVENTS = whole("EVENTS", streams.EVENTS)
REPEATS = whole("REPEATS", 3)
QUERIES = 50
RATE = 20_000
STEADY_SECONDS = 40
WINDOW_SECONDS = 1
SPAN, SPAN_APART = 53_000, 50_000
TARGETS = {
    "over_spark_sorting": ("at least", 1.6),
    "over_spark_reading": ("at least", 0.85),
    "latency_over_spark_trigger": ("at most", 1.3),
    "cold_over_spark_alone": ("at most", 1.5),
    "driver_bytes_over_input": ("at most", 0.01),
    "aggregator_cpu_dynamic_over_never": ("at most", 1.0),
    "aggregator_cpu_dynamic_over_always": ("at most", 1.0),
}


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    with pipeline.scratch() as scratch:
        progress(f"writing {EVENTS:,} events")
        data = pipeline.written(scratch / "events", EVENTS)
        whole_file = pipeline.written(scratch / "file", EVENTS, file_rows=EVENTS)
        changing = pipeline.stored(scratch / "changing", streams.changing(EVENTS, QUERIES))
        progress("measuring cold runs")
        found = _cold_run.measure(whole_file, scratch, REPEATS)
        progress("measuring what reaches the driver on two nodes")
        found |= _driver_bytes.measure(data, scratch)
        progress("starting Ray and Spark")
        with pipeline.started() as job:
            found |= _throughput(job, data, scratch, progress)
            progress("measuring what sharing saves")
            found |= _aggregator_cpu.measure(job, changing, scratch, REPEATS)
            found |= _latency(job, scratch, progress)
        return {"events": data.rows, "queries": len(data.workload), **_targets_first(found)}


def _targets_first(found: dict[str, float]) -> dict[str, float]:
    return {name: found[name] for name in TARGETS} | found


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for name, value in result.items():
        side, limit = TARGETS.get(name, ("", 0.0))
        target = f"{side} {limit:g}" if side else ""
        met = ""
        if side:
            met = "yes" if (value >= limit if side == "at least" else value <= limit) else "no"
        rows.append({"measure": name, "value": value, "target": target, "met": met})
    return rows


def _throughput(
    job: pipeline.Job, data: pipeline.Input, scratch: Path, progress: Callable[[str], None]
) -> dict[str, float]:
    spark, folder = job.spark, data.folder

    def ours() -> float:
        return _run.clock(lambda: job.run(folder, data.workload, scratch / "job"))

    works: dict[str, Callable[[], float]] = {
        "pipeline": ours,
        "reading": lambda: _run.clock(lambda: pipeline.spark_reads(spark, folder, scratch)),
        "sorting": lambda: _run.clock(lambda: pipeline.spark_sorts(spark, folder, scratch)),
        "reading_at_once": lambda: _run.clock(lambda: pipeline.spark_reads_at_once(spark, folder)),
        "sorting_at_once": lambda: _run.clock(lambda: pipeline.spark_sorts_at_once(spark, folder)),
    }
    progress("warming up")
    for work in works.values():
        work()
    progress("measuring throughput")
    best = _run.best(works, REPEATS)
    rate = {name: data.rows / seconds for name, seconds in best.items()}
    return {
        "over_spark_sorting": rate["pipeline"] / rate["sorting"],
        "over_spark_reading": rate["pipeline"] / rate["reading"],
        "over_spark_sorting_at_once": rate["pipeline"] / rate["sorting_at_once"],
        "over_spark_reading_at_once": rate["pipeline"] / rate["reading_at_once"],
        **{f"events_per_second_{name}": value for name, value in rate.items()},
    }


def _latency(job: pipeline.Job, scratch: Path, progress: Callable[[str], None]) -> dict[str, float]:
    workload, rows = pipeline.steady(RATE * WINDOW_SECONDS, WINDOW_SECONDS * 1_000_000)
    progress("measuring latency of Spark alone")
    feed = pipeline.Feed(rows, scratch / "steady-spark", RATE, SPAN)
    triggers = pipeline.spark_triggers(job.spark, scratch / "steady-spark", scratch, STEADY_SECONDS)
    feed.end()
    trigger = statistics.median(triggers[len(triggers) // 4 :])
    progress("measuring latency of the pipeline")
    waits, watcher = _steady(job, workload, rows, scratch / "steady", SPAN)
    apart, _ = _steady(job, workload, rows, scratch / "apart", SPAN_APART)
    stages = watcher.last.stages if watcher.last else {}
    return {
        "latency_over_spark_trigger": statistics.median(waits) / trigger,
        "latency_over_spark_trigger_apart": statistics.median(apart) / trigger,
        "latency_seconds": statistics.median(waits),
        "latency_seconds_p95": sorted(waits)[int(len(waits) * 0.95)],
        "latency_seconds_apart": statistics.median(apart),
        "windows": len(waits),
        "spark_trigger_seconds": trigger,
        "epochs_a_second": watcher.epochs / STEADY_SECONDS,
        **{f"stage_{name}_seconds": seconds for name, seconds in stages.items()},
    }


def _steady(
    job: pipeline.Job, workload: Workload, rows: pa.Table, folder: Path, span: int
) -> tuple[list[float], pipeline.Quiet]:
    feed = pipeline.Feed(rows, folder, RATE, span)
    ended = threading.Event()
    threading.Timer(STEADY_SECONDS, ended.set).start()
    made = folder.with_name(f"{folder.name}-job")
    watcher = job.run(folder, workload, made, bounded=False, stopping=ended.is_set)
    feed.end()
    return _waits(feed, made / "results"), watcher


def _waits(feed: pipeline.Feed, results: Path) -> list[float]:
    """Of each window, the time from the arrival of its last event to its first result file, less
    those of the first quarter, in which things warm up."""
    first: dict[int, float] = {}
    for part in results.glob("*/part-*.parquet"):
        written = os.stat(part).st_mtime
        for end in pq.read_table(part, columns=["window_end"])["window_end"].unique().to_pylist():
            first[end] = max(first.get(end, 0.0), written)
    waits, arrived = [], feed.arrived
    for end, written in sorted(first.items()):
        last = (end - 1) // feed.span  # the file with the last event before the end
        if last < len(arrived):
            waits.append(written - arrived[last])
    return waits[len(waits) // 4 :]
