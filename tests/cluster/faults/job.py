"""Runs a job on the Ray and Spark that all tests share: all of it, but for their start."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from cluster.faults import stream
from hamlet.job import input_resolver, job_setup
from hamlet.job import job_run as jobs
from hamlet.job.epoch_report import EpochReport
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.settings import Settings
from runtime.types.schema import Schema
from spark_ingest import session
from spark_ingest.sinks.file_sink import FileSink, RollingPolicy
from spark_ingest.sinks.sink import EpochSink
from tools.patience import PATIENCE_S

EVERY_EPOCH = RollingPolicy(seconds=0.0)


@dataclass
class RecordingScreen:
    """What a job has told."""

    reports: list[EpochReport] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    moved: threading.Condition = field(default_factory=threading.Condition)

    @property
    def rows(self) -> int:
        return self.reports[-1].counts.rows if self.reports else 0

    def stage(self, what: str) -> None: ...

    def serves(self, url: str) -> None: ...

    def say(self, what: str) -> None: ...

    def warn(self, what: str) -> None:
        self.warnings.append(what)

    def trouble(self, what: str) -> None:
        self.troubles.append(what)

    def committed(self, report: EpochReport) -> None:
        with self.moved:
            self.reports.append(report)
            self.moved.notify_all()

    def wait(self, epochs: int, limit: float = PATIENCE_S) -> None:
        """Until so many have been committed."""
        with self.moved:
            assert self.moved.wait_for(lambda: len(self.reports) >= epochs, limit), self.troubles


@dataclass
class Jobs:
    """`run` goes on until all rows are in, or until `stopping` says so."""

    cluster: object
    spark: object
    folder: Path
    files: int = stream.FILES
    rows: int = stream.ROWS
    width: int = 0

    @property
    def input(self) -> Path:
        return self.folder / "input"

    @property
    def output(self) -> Path:
        return self.folder / "output"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @cached_property
    def tables(self) -> list[pa.Table]:
        return stream.tables(self.files, self.rows, self.width)

    def fill(self, first: int = 0, last: int | None = None) -> None:
        for number, content in enumerate(self.tables[first:last], first):
            stream.put(self.input, number, content)

    def elsewhere(self) -> "Jobs":
        """The same job in another folder."""
        return replace(self, folder=self.folder / "elsewhere")

    def run(
        self,
        seen: RecordingScreen,
        *,
        workload: str = stream.WORKLOAD,
        actors: int = 2,
        stopping: Callable[[], bool] = lambda: False,
        wrap: Callable[[EpochSink], EpochSink] = lambda sink: sink,
    ) -> jobs.JobOutcome:
        queries = parse(workload, "faults.sase")
        rows = sum(content.num_rows for content in self.tables)
        until = time.monotonic() + PATIENCE_S

        def stop() -> bool:
            assert time.monotonic() < until, seen.troubles
            return seen.rows >= rows or stopping()

        def sink(checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
            names = [query.name for query in bound_workload.workload]
            return wrap(FileSink(self.output, "parquet", names, EVERY_EPOCH))

        needs = ReadRequest("time", "type", queries.uses, Schema({}))
        asked = input_resolver.InputOptions(str(self.input), needs, follow=True, unit="ms")
        with (
            patch.object(job_setup, "start_cluster", lambda *_: self.cluster),
            patch.object(session, "start", lambda *_, **__: self.spark),
        ):
            return jobs.run(
                queries,
                jobs.JobOptions(
                    settings=Settings(planner="auto"),
                    name=f"faults-{os.getpid()}",
                    actors=actors,
                    checkpoint=str(self.checkpoint),
                    lateness=stream.LATENESS_MICROS,
                ),
                input_resolver.resolve_input(asked),
                sink,
                seen,
                stop,
                lambda outcome: None,
            )
