"""A stream in Parquet files with string keys, and a job over it on Ray and Spark."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from actors import cluster as clusters
from actors.actor_pool import ActorPool
from actors.hub import MetricsHub
from benchmarks import _streams as streams
from hamlet.job.driver import Driver
from hamlet.job.epoch_reader import EpochReader
from hamlet.job.epoch_report import EpochReport
from hamlet.job.job_context import JobContext, StartPoint
from hamlet.job.manifest_check import fingerprints
from hamlet.job.metrics_recorder import JobMetrics
from hamlet.job.workload_changes import WorkloadChanges
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.language.query import Workload
from runtime.metrics.http_server import LOOPBACK
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from spark_ingest import session
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.sinks.file_sink import FileSink
from spark_ingest.sources.files import FileSource

FILE_ROWS = 500_000
AGGREGATORS = 2
UNIT = "us"
SPARK_SECONDS = 600.0  #: to start, on a machine that may be busy


@dataclass
class Input:
    folder: Path
    workload: Workload
    rows: int


def written(
    folder: Path, events: int, queries: int = 50, windows: int = 4, file_rows: int = FILE_ROWS
) -> Input:
    """Bursts of 120, 10,000 string keys, starts and ends of their own for each query."""
    return stored(folder, streams.sharing(queries, events, "own", windows=windows), file_rows)


def stored(folder: Path, stream: streams.Stream, file_rows: int = FILE_ROWS) -> Input:
    table = streams.with_strings(stream.table)
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, table.num_rows, file_rows)):
        pq.write_table(table.slice(start, file_rows), folder / f"part-{number:04d}.parquet")
    return Input(folder, parse(stream.workload), table.num_rows)


def steady(window_rows: int, window: int, queries: int = 50) -> tuple[Workload, pa.Table]:
    """Twenty windows of so many rows, in which every query has results. To be played in a loop."""
    stream = streams.sharing(queries, 20 * window_rows, "few", windows=20, burst=10)
    workload = stream.workload.replace(f"WITHIN {window_rows} us", f"WITHIN {window} us")
    return parse(workload), streams.with_strings(stream.table)


class Quiet:
    """Counts what it hears and keeps the last of it: memory is what is measured."""

    def __init__(self) -> None:
        self.epochs = 0
        self.last: EpochReport | None = None

    def committed(self, report: EpochReport) -> None:
        self.epochs += 1
        self.last = report

    def trouble(self, what: str) -> None:
        raise RuntimeError(what)


@dataclass
class Job:
    """Ray, Spark and a pool of actors, for any number of runs."""

    spark: SparkSession
    pool: ActorPool
    hub: MetricsHub

    def run(
        self,
        folder: Path,
        workload: Workload,
        scratch: Path,
        *,
        bounded: bool = True,
        stopping: Callable[[], bool] = lambda: False,
        watcher: Quiet | None = None,
        changes: WorkloadChanges | None = None,
        settings: Settings | None = None,
    ) -> Quiet:
        """From files to result files, with checkpoints."""
        shutil.rmtree(scratch, ignore_errors=True)
        needs = ReadRequest("time", "type", workload.uses)
        source = FileSource(self.spark, folder, needs, bounded=bounded, unit=UNIT)
        checkpoints = CheckpointStore(BlobStore(str(scratch / "checkpoint")))
        checkpoints.claim(lambda what: None)
        input_format = InputFormat("time", "type", UNIT, source.schema)
        sink = FileSink(scratch / "results", "parquet")
        watcher = watcher or Quiet()
        bound_workload = BoundWorkload(workload, input_format, "float")
        context = JobContext(
            source=source,
            sink=sink,
            pool=self.pool,
            reader=EpochReader(source, ArrowExport(self.spark), self.pool),
            checkpoints=checkpoints,
            recorder=JobMetrics("bench", bound_workload, [self.hub]),
            watcher=watcher,
            settings=settings or Settings(planner="auto"),
            shards=2 * AGGREGATORS,
            lateness=0,
            given=fingerprints(workload),
        )
        with closing(sink):
            Driver(context, StartPoint(bound_workload), changes, stopping).run()
        return watcher


@contextmanager
def started(cores: int | None = None) -> Iterator[Job]:
    """`cores` are those of Spark's executor; all of the machine's if nobody says."""
    with clusters.start(session.environment(embedded=True)) as cluster:
        pool = ActorPool(AGGREGATORS, AGGREGATORS)
        size = session.SparkSize(cores=cores or os.cpu_count() or 2)
        spark = session.start(cluster, size, limit_s=SPARK_SECONDS)
        hub = MetricsHub(0, LOOPBACK)
        yield Job(spark, pool, hub)
        hub.close()
        pool.close()


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hamlet-bench-") as folder:
        yield Path(folder)


# ---- Spark alone ---------------------------------------------------------------------------


def spark_reads(spark: SparkSession, folder: Path, scratch: Path) -> None:
    """A stream of the same files into nothing, a file in each micro-batch."""
    frame = spark.readStream.schema(_schema(spark, folder)).option("maxFilesPerTrigger", 1)
    query = (
        frame.parquet(str(folder))
        .writeStream.format("noop")
        .option("checkpointLocation", _fresh(scratch))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def spark_sorts(spark: SparkSession, folder: Path, scratch: Path) -> None:
    """The same, repartitioned by key and sorted by time within partitions."""

    def sort(batch: object, number: int) -> None:
        frame = batch.repartition(2, "key").sortWithinPartitions("time")  # type: ignore[attr-defined]
        frame.write.format("noop").mode("overwrite").save()

    frame = spark.readStream.schema(_schema(spark, folder)).option("maxFilesPerTrigger", 1)
    query = (
        frame.parquet(str(folder))
        .writeStream.foreachBatch(sort)
        .option("checkpointLocation", _fresh(scratch))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def spark_reads_at_once(spark: SparkSession, folder: Path) -> None:
    """All files in one batch job."""
    frame = spark.read.schema(_schema(spark, folder)).parquet(str(folder))
    frame.write.format("noop").mode("overwrite").save()


def spark_sorts_at_once(spark: SparkSession, folder: Path) -> None:
    frame = spark.read.schema(_schema(spark, folder)).parquet(str(folder))
    frame = frame.repartition(2, "key").sortWithinPartitions("time")
    frame.write.format("noop").mode("overwrite").save()


def spark_triggers(spark: SparkSession, folder: Path, scratch: Path, seconds: float) -> list[float]:
    """How long micro-batches take that read what comes into a folder, into nothing."""
    frame = spark.readStream.schema(_schema(spark, folder)).parquet(str(folder))
    query = frame.writeStream.format("noop").option("checkpointLocation", _fresh(scratch)).start()
    try:
        time.sleep(seconds)
        # `recentProgress` has the last 100; empty triggers report nothing of their own.
        found = [each for each in query.recentProgress if each["numInputRows"]]
        return [each["durationMs"]["triggerExecution"] / 1e3 for each in found]
    finally:
        query.stop()


def _schema(spark: SparkSession, folder: Path) -> StructType:
    first = min(folder.glob("*.parquet"))
    return spark.read.parquet(str(first)).schema


def _fresh(scratch: Path) -> str:
    return tempfile.mkdtemp(dir=scratch)


# ---- a steady stream -----------------------------------------------------------------------


class Feed:
    """Puts a file into a folder every `span` microseconds, at a steady rate of events a second, in
    a process of its own. Events of file n have times from `n * span` on. Of files, the last `keep`
    stay, or all."""

    def __init__(
        self, source: pa.Table, folder: Path, rate: int, span: int = 50_000, keep: int = 0
    ) -> None:
        self.span = span
        folder.mkdir(parents=True, exist_ok=True)
        self._arrivals = folder.with_name(f"{folder.name}-arrivals")
        context = multiprocessing.get_context("spawn")
        self._ended = context.Event()
        self._first = context.Event()
        self._process = context.Process(
            target=_feed,
            args=(source, folder, rate * span // 1_000_000, span, keep, self._first, self._ended),
            daemon=True,
        )
        self._process.start()
        self._first.wait()

    def end(self) -> None:
        self._ended.set()
        self._process.join()

    @property
    def arrived(self) -> list[float]:
        """When each file came."""
        return [float(line) for line in self._arrivals.read_text().splitlines()]


def _feed(
    source: pa.Table, folder: Path, rows: int, span: int, keep: int, first: Event, ended: Event
) -> None:
    began = time.monotonic()
    with open(folder.with_name(f"{folder.name}-arrivals"), "w", buffering=1) as arrivals:
        for number in itertools.count():
            time.sleep(max(0.0, began + number * span / 1e6 - time.monotonic()))
            if ended.is_set():
                return
            start = number * rows % (source.num_rows - rows)
            times = number * span + np.arange(rows) * span // rows
            place = source.schema.get_field_index("time")
            piece = source.slice(start, rows).set_column(place, "time", pa.array(times))
            waiting = folder / f".{number:07d}"
            pq.write_table(piece, waiting)
            waiting.rename(folder / f"{number:07d}.parquet")
            arrivals.write(f"{time.time()}\n")
            first.set()
            if keep and number >= keep:
                (folder / f"{number - keep:07d}.parquet").unlink(missing_ok=True)
