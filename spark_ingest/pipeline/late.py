"""Marks events behind the watermark."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from runtime.pipeline.event_contract import Reason
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import FAULT, TIME


def late(rows: DataFrame, watermark: int | None) -> DataFrame:
    """FAULT is LATE for events before the watermark."""
    if watermark is None:
        return rows
    fault, time = sql.name(FAULT), sql.name(TIME)
    # The watermark is the only element of an array, at a place that depends on the row: Spark
    # writes a plain number into the code that it compiles, and would compile again for each epoch.
    mark = f"array({watermark}L)[CAST({time} & 0L AS INT)]"
    behind = f"{fault} = 0 AND {time} < {mark}"
    return rows.withColumn(FAULT, F.expr(f"if({behind}, {int(Reason.LATE)}, {fault})"))
