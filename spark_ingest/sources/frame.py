"""Reads a frame of Spark that ends, by ranges of its partitions.

The frame may be a user's own, with joins and filters, or one that Spark loads from any of its
formats. It is planned once for a run. A later run would plan it anew, perhaps into other
partitions, so it cannot go on in the middle.
"""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from runtime.io.reader import ReadRequest
from runtime.pipeline.event_block import Origin
from runtime.types.time_codec import TimeCodec
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.frame_rows import FrameRows, frame_schema, our_session
from spark_ingest.sources.source import Position, SourceFrame, SourceRange, StreamSource
from spark_ingest.sources.spark_format import spark_errors

# Of times in text, to see how they are written.
SAMPLE_ROWS = 1_000


class FrameSource(StreamSource):
    """A position is a number of partitions. Nobody knows their sizes before they are read, so the
    first limit stands for two partitions for each core."""

    counts_in = "partitions"

    def __init__(
        self,
        spark: SparkSession,
        frame: DataFrame,
        needs: ReadRequest,
        *,
        name: str,
        schema: pa.Schema | None = None,
        unit: str | None = None,
    ) -> None:
        """`schema` is that of an earlier run, which has ended."""
        self.name = name
        self.bounded = True
        self.schema = schema or frame_schema(frame)
        self._spark = spark
        self._frame = frame
        self._needs = needs
        self._unit = unit
        self._bytes_each: int | None = None

    def first(self) -> Position:
        return {"partition": 0}

    def next(self, position: Position, limit: int) -> SourceRange | None:
        first = position["partition"]
        if first >= self._partitions:
            return None
        if self._bytes_each is None:
            self._bytes_each = max(1, limit // (2 * self._spark.sparkContext.defaultParallelism))
        count = min(max(1, limit // self._bytes_each), self._partitions - first)
        end = {"partition": first + count}
        return SourceRange(position, end, bytes=count * self._bytes_each)

    def between(self, start: Position, end: Position) -> SourceRange:
        return SourceRange(start, end)

    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        target = pa.schema([self.schema.field(name) for name in pipeline.columns])
        contract = self._needs.contract(target)
        partitions = range(wanted.start["partition"], wanted.end["partition"])
        frame = pipeline.apply(self._rows.parsed(contract, partitions))
        origins = [Origin(self.name, self.name, first=None)] * len(partitions)
        executions = (self._rows.execution, frame._jdf.queryExecution())
        return SourceFrame(frame, contract, origins, range(len(origins)), executions=executions)

    def clock(self) -> pa.DataType | None:
        """The type of times in text, by the first rows that have one."""
        column = self._needs.time_column
        if column not in self.schema.names:
            return None  # the workload is about to be refused
        clock = TimeCodec(self.schema.field(column).type, self._unit)
        if clock.decided:
            return None
        with spark_errors(f"Spark cannot read {self.name}"):
            clock.to_micros(self._rows.first_values(column, SAMPLE_ROWS)[column])
        return clock.type if clock.decided else None

    def backlog(self, position: Position) -> int:
        return self._partitions - int(position["partition"])

    @cached_property
    def _partitions(self) -> int:
        with spark_errors(f"Spark cannot read {self.name}"):
            return self._rows.partitions

    @cached_property
    def _rows(self) -> FrameRows:
        needs = self._needs
        used = self.schema.names if needs.uses is None else needs.uses
        columns = dict.fromkeys([needs.time_column, needs.type_column, *used])
        return FrameRows(self._frame, columns, our_session(self._spark))
