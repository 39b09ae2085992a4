"""Adds the pane of each event: the piece of time that lies in the same windows throughout."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import PANE, TIME


def window(rows: DataFrame, pane: int) -> DataFrame:
    """PANE numbers pieces of `pane` microseconds since 1970. Without windows of time it is 0."""
    time = sql.name(TIME)
    number = f"({time} div {pane}L - CAST({time} % {pane}L < 0 AS BIGINT))"
    return rows.withColumn(PANE, F.expr(number if pane else "0L"))
