"""From parsed rows to the blocks that routers slice: all steps of the pipeline, in order."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from runtime.pipeline.routing_table import RoutingTable
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.attributes import attributes
from spark_ingest.pipeline.check import check
from spark_ingest.pipeline.columns import FAULT, RAW
from spark_ingest.pipeline.event_time import event_time
from spark_ingest.pipeline.late import late
from spark_ingest.pipeline.parsed_rows import ParsedRows
from spark_ingest.pipeline.partition import partition
from spark_ingest.pipeline.window import window


@dataclass(frozen=True)
class EventPipeline:
    """What an epoch asks of its rows: the routes of its workload, and which events are late."""

    routing: RoutingTable
    watermark: int | None = None

    @property
    def columns(self) -> list[str]:
        """The columns of the input that it needs."""
        own = (self.routing.input_format.time_column, self.routing.input_format.type_column)
        return list(dict.fromkeys([*own, *self.routing.uses]))

    def apply(self, rows: ParsedRows) -> DataFrame:
        routing = self.routing
        rows = rows.with_frame(event_time(rows.frame, routing.input_format, rows.stored))
        rows = attributes(check(rows, routing), routing)
        frame = late(rows.frame, self.watermark)
        frame = window(partition(frame, routing), routing.pane)
        return frame if rows.raw is None else _with_raw(frame, rows.raw, rows.kept)


def _with_raw(frame: DataFrame, raw: str, kept: tuple[str, ...]) -> DataFrame:
    """RAW has the rows that are no events in time, as they were read."""
    text = f"if({sql.name(FAULT)} = 0, NULL, {raw})"
    return frame.withColumn(RAW, F.expr(text)).drop(*(each for each in kept if each != RAW))
