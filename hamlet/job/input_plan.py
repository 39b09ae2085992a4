"""Shows how Spark will read an input, without starting a job."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from hamlet.job.input_resolver import resolve_input
from hamlet.job.job_options import JobOptions
from hamlet.job.job_setup import SHARDS_EACH
from hamlet.job.resolved_input import InputOptions
from runtime.errors import InputError
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from runtime.temporary_folder import TemporaryFolder
from spark_ingest.jars import fetched
from spark_ingest.local_session import local_session
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.source import SourceFrame, SourceRange, StreamSource

# Of the range that is planned. It is not read.
RANGE_BYTES = 1 << 20
POLL_SECONDS = 0.05
# Between the plan of a frame and ours.
OVER_ITS_ROWS = "\n\nSpark executes the next plan over the rows of this one, its ExistingRDD:\n\n"


@dataclass(frozen=True)
class InputPlan:
    """The columns of an input, and Spark's plan to read its first rows."""

    name: str
    schema: pa.Schema
    text: str


def plan_input(workload: Workload, options: InputOptions) -> InputPlan:
    """Starts a Spark of its own in this process. Reads no more of the input than what its columns
    are known from."""
    with _opened(options) as (spark, source):
        needs = options.needs
        input_format = InputFormat(
            needs.time_column, needs.type_column, options.unit, source.schema, source.clock()
        )
        bound = BoundWorkload(workload, input_format, "float")
        actors = JobOptions().actors
        pipeline = EventPipeline(bound.routing(actors * SHARDS_EACH, actors))
        found = source.read(_first_range(source, options), pipeline)
        plans = [_explained(spark, each) for each in _executions(source, found)]
        return InputPlan(source.name, source.schema, OVER_ITS_ROWS.join(plans))


@contextmanager
def _opened(options: InputOptions) -> Iterator[tuple[SparkSession, StreamSource]]:
    input = resolve_input(replace(options, unpack=False))
    input.check_explainable()
    with TemporaryFolder("explain-") as folder:
        schema = input.probe_schema(folder)
        needs = input.spark_needs
        options.wait("starting Spark for its plan of the input")
        with (
            local_session(folder, fetched(needs.jars), needs.settings) as spark,
            closing(input.open(spark, folder, schema, None)) as source,
        ):
            yield spark, source


def _first_range(source: StreamSource, options: InputOptions) -> SourceRange:
    start, said = source.first(), False
    while (wanted := source.next(start, RANGE_BYTES)) is None:
        if source.ended(start):
            raise InputError(f"there is nothing to read in {source.name}, so it has no plan")
        if not said and not source.bounded:
            options.wait(f"waiting for the first rows of {source.name}")
        said = True
        time.sleep(POLL_SECONDS)
    return wanted


def _executions(source: StreamSource, found: SourceFrame) -> Sequence[Any]:
    if found.frame is None:
        reasons = pa.concat_tables(found.lost)["reason"].to_pylist()
        raise InputError(f"cannot read {source.name}: {'; '.join(dict.fromkeys(reasons))}")
    return found.executions or (found.frame._jdf.queryExecution(),)


def _explained(spark: SparkSession, execution: Any) -> str:
    jvm: Any = spark.sparkContext._jvm
    return str(jvm.PythonSQLUtils.explainString(execution, "formatted")).strip()
