"""What Spark executes to read the first range of a source."""

import time

from cluster.streams import RIDES
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.source import StreamSource

WATERMARK = 5_000_000
#: What each step is known by in a plan: what is late is so by the watermark.
STEPS = {
    "check": "__fault",
    "late": str(WATERMARK),
    "partition": "xxhash64(",
    "shard": "pmod(",
    "window": "__pane__",
}
PATIENCE_S = 300.0


def executed_plan(spark, source: StreamSource, workload: Workload = RIDES) -> str:
    bound = BoundWorkload(workload, InputFormat(columns=source.schema), "float")
    until = time.monotonic() + PATIENCE_S
    while (wanted := source.next(source.first(), 1 << 20)) is None:
        assert time.monotonic() < until, "the source has no rows"
        time.sleep(0.05)
    found = source.read(wanted, EventPipeline(bound.routing(8, 2), WATERMARK))
    frame = found.frame if found.planned is None else found.planned
    assert frame is not None
    before = spark.conf.get("spark.sql.debug.maxToStringFields")
    spark.conf.set("spark.sql.debug.maxToStringFields", "1000")
    try:
        return str(frame._jdf.queryExecution().executedPlan().toString())
    finally:
        spark.conf.set("spark.sql.debug.maxToStringFields", before)


def assert_spark_does_it(plan: str, steps: dict[str, str] = STEPS) -> None:
    """All steps are in the plan, and none of it is Python."""
    assert {step for step, mark in steps.items() if mark not in plan} == set()
    assert "Python" not in plan
    assert "ArrowEval" not in plan
