"""Runs a job over a frame of Spark, for `hamlet.aggregate`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hamlet.job import job_run
from hamlet.job.epoch_report import EpochReport
from hamlet.job.frame_input import NAME, FrameInput
from hamlet.job.job_options import JobOptions
from hamlet.job.job_run import JobOutcome
from hamlet.job.resolved_input import InputOptions
from runtime.errors import HamletError, InputError, check_choice
from runtime.io.growing_table import conformed, merged
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.epoch_record import Results
from runtime.pipeline.settings import Settings
from runtime.plan.sharing_plan import SharingPlan
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.arrow_import import spark_frame
from spark_ingest.sinks.file_sink import WholeSink
from spark_ingest.sinks.sink import EpochSink
from spark_ingest.user_session import check_user_session, is_on_ray

logger = logging.getLogger("hamlet")

ARROW, SPARK = "arrow", "spark"


class FrameResults(dict[str, Any]):
    """The results of each query by its name. `dead_letters` are the invalid rows with their
    reasons. All are Arrow tables or all are frames of Spark."""

    def __init__(self, tables: dict[str, Any], dead_letters: Any) -> None:
        super().__init__(tables)
        self.dead_letters = dead_letters


@dataclass(frozen=True)
class FrameOptions:
    """The options of `hamlet.aggregate` and `hamlet.stream` over a frame."""

    results: str = ARROW
    actors: int = 2
    checkpoint: str | None = None
    numeric: str = "float"
    ties: str = "strict"
    sharing: str = "dynamic"
    kernels: str = "auto"
    plan: SharingPlan | None = None
    planner: str = "auto"
    lateness: int | None = None  #: in microseconds
    time_column: str = "time"
    type_column: str = "type"
    time_unit: str | None = None

    def __post_init__(self) -> None:
        check_choice("results", self.results, (ARROW, SPARK))
        if self.actors < 1:
            raise HamletError(f"actors is {self.actors}, but at least one must compute")

    @property
    def settings(self) -> Settings:
        """As `hamlet run`, it plans unless there is a plan or nothing to share."""
        alone = self.sharing == "never" or self.numeric == "exact"
        planner = None if alone or self.plan is not None else self.planner
        return Settings(self.numeric, self.ties, self.sharing, self.kernels, self.plan, planner)


def aggregate_frame(
    workload: Workload | str, frame: DataFrame, options: FrameOptions
) -> FrameResults:
    if options.lateness is not None:
        raise HamletError(
            "lateness is for streams: a frame that ends has no late events",
            "leave out lateness",
        )
    spark = frame.sparkSession
    queries = parse(workload) if isinstance(workload, str) else workload
    needs = ReadRequest(options.time_column, options.type_column, queries.uses)
    blocks = hands_over(spark, stacklevel=4)
    collector = _Collector()
    job_run.run(
        queries,
        JobOptions(
            actors=options.actors,
            checkpoint=options.checkpoint,
            blocks=blocks,
            settings=options.settings,
        ),
        FrameInput(InputOptions(NAME, needs, unit=options.time_unit), frame),
        collector.open,
        LogScreen(),
        lambda: False,
        collector.collect,
    )
    found = collector.results()
    if options.results == ARROW:
        return found
    frames = {name: spark_frame(spark, table) for name, table in found.items()}
    return FrameResults(frames, spark_frame(spark, found.dead_letters))


def hands_over(spark: SparkSession, stacklevel: int) -> bool:
    """Whether the executors of the user's session hand rows over. If not, says so at the line that
    called us."""
    check_user_session(spark)
    if is_on_ray(spark):
        return True
    warnings.warn(
        "RayDP does not run this Spark session, so all rows are collected in this process on their "
        "way to the aggregators; hamlet.session() starts a session that needs no detour",
        stacklevel=stacklevel,
    )
    return False


class _Collector:
    """Reads all results from the checkpoint, when the job has ended and before it is closed."""

    def __init__(self) -> None:
        self._checkpoints: CheckpointStore | None = None
        self._found: FrameResults | None = None

    def open(self, checkpoints: CheckpointStore, bound_workload: BoundWorkload) -> EpochSink:
        self._checkpoints = checkpoints
        return WholeSink()

    def collect(self, outcome: JobOutcome) -> None:
        assert self._checkpoints is not None
        assert outcome.last is not None
        empty = {**outcome.bound_workload.empty(), DEAD_LETTER: no_dead()}
        tables = joined([empty, *self._checkpoints.results(outcome.last)])
        tables.pop(LATE, None)
        dead = tables.pop(DEAD_LETTER)
        if dead.num_rows:
            reasons = ", ".join(f"{n:,}: {why}" for why, n in outcome.counts.dead.most_common(3))
            logger.warning("%s rows are not events (%s, ...)", f"{dead.num_rows:,}", reasons)
        self._found = FrameResults(tables, dead)

    def results(self) -> FrameResults:
        if self._found is None:
            raise InputError("the job was stopped before the frame ended")
        return self._found


def joined(results: Iterable[Results]) -> dict[str, pa.Table]:
    """The tables of all epochs by name. Later ones may have more columns."""
    found: dict[str, list[pa.Table]] = {}
    for tables in results:
        for name, table in tables.items():
            found.setdefault(name, []).append(table)
    return {name: _concatenated(parts) for name, parts in found.items()}


def _concatenated(tables: list[pa.Table]) -> pa.Table:
    schema = tables[0].schema
    for table in tables[1:]:
        schema = merged(schema, table.schema)
    return pa.concat_tables([conformed(table, schema) for table in tables])


class LogScreen:
    """Says what happens in the log of this process."""

    def stage(self, what: str) -> None:
        if what:
            logger.info("%s", what)

    def warn(self, what: str) -> None:
        logger.warning("%s", what)

    def say(self, what: str) -> None:
        logger.info("%s", what)

    def serves(self, url: str) -> None:
        logger.info("live page and metrics: %s", url)

    def trouble(self, what: str) -> None:
        logger.warning("%s; retrying", what)

    def committed(self, report: EpochReport) -> None:
        logger.debug("epoch %s: %s rows", report.epoch, report.rows)
