"""What Spark executes to read the first range of a source."""

import time

from cluster.streams import RIDES
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.source import StreamSource
from tools.patience import PATIENCE_S

WATERMARK = 5_000_000
#: What each step is known by in a plan: what is late is so by the watermark.
STEPS = {
    "check": "__fault",
    "late": str(WATERMARK),
    "partition": "xxhash64(",
    "shard": "pmod(",
    "window": "__pane__",
}


def executed_plan(spark, source: StreamSource, workload: Workload = RIDES) -> str:
    """Of a source whose rows Spark reads and checks in one plan."""
    (plan,) = executed_plans(spark, source, workload)
    return plan


def executed_plans(spark, source: StreamSource, workload: Workload = RIDES) -> list[str]:
    """Each is executed over the rows of the one before."""
    bound = BoundWorkload(workload, InputFormat(columns=source.schema), "float")
    until = time.monotonic() + PATIENCE_S
    while (wanted := source.next(source.first(), 1 << 20)) is None:
        assert time.monotonic() < until, "the source has no rows"
        time.sleep(0.05)
    found = source.read(wanted, EventPipeline(bound.routing(8, 2), WATERMARK))
    assert found.frame is not None
    last = found.frame._jdf.queryExecution()
    executions = found.executions or (last,)
    lineage = last.toRdd().toDebugString()
    for each in executions:
        assert f"SQLExecutionRDD[{each.toRdd().id()}]" in lineage, "its rows are not those read"
    before = spark.conf.get("spark.sql.debug.maxToStringFields")
    spark.conf.set("spark.sql.debug.maxToStringFields", "1000")
    try:
        return [str(each.executedPlan().toString()) for each in executions]
    finally:
        spark.conf.set("spark.sql.debug.maxToStringFields", before)


def assert_spark_does_it(plan: str, steps: dict[str, str] = STEPS) -> None:
    """All steps are in the plan, and none of it is Python."""
    assert {step for step, mark in steps.items() if mark not in plan} == set()
    assert "Python" not in plan
    assert "ArrowEval" not in plan
