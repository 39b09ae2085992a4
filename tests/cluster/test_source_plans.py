"""Spark itself checks, partitions and windows the rows of every source, without Python."""

from pathlib import Path

import pytest

from cluster.jobs import Asked
from cluster.streams import FORMATS, RIDES, rides
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.source import StreamSource

#: What each step is known by in a plan.
STEPS = {"check": "__fault", "partition": "xxhash64(", "shard": "pmod(", "window": "__pane__"}


def plan_of(spark, source: StreamSource) -> str:
    bound = BoundWorkload(RIDES, InputFormat(columns=source.schema), "float")
    wanted = source.next(source.first(), 1 << 20)
    assert wanted is not None
    frame = source.read(wanted, EventPipeline(bound.routing(8, 2), 5_000_000)).frame
    assert frame is not None
    before = spark.conf.get("spark.sql.debug.maxToStringFields")
    spark.conf.set("spark.sql.debug.maxToStringFields", "1000")
    try:
        return str(frame._jdf.queryExecution().executedPlan().toString())
    finally:
        spark.conf.set("spark.sql.debug.maxToStringFields", before)


@pytest.mark.parametrize("format", FORMATS)
def test_files(spark, tmp_path: Path, format: str):
    path = tmp_path / f"rides.{format}"
    FORMATS[format](rides(50, seed=1), path)
    plan = plan_of(spark, FileSource(spark, path, Asked(RIDES, path).needs))
    assert {step for step, mark in STEPS.items() if mark not in plan} == set()
    assert "Python" not in plan
    assert "ArrowEval" not in plan
    assert "5000000" in plan  # the watermark, behind which events are late
