"""A streaming frame of Spark that a user made, as the input of a job."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hamlet.job.resolved_input import InputOptions, ResolvedInput
from hamlet.job.spark_input import SPARK_FOLDER, check_spark_checkpoint
from runtime.errors import InputError
from spark_ingest.sources.frame_rows import frame_schema
from spark_ingest.sources.source import Position, StreamSource
from spark_ingest.sources.streaming_frame import StreamingFrameSource, Trigger

NAME = "streaming DataFrame"


class StreamFrameInput(ResolvedInput):
    def __init__(self, options: InputOptions, frame: DataFrame, trigger: Trigger | None) -> None:
        super().__init__(options)
        if not frame.isStreaming:
            raise InputError(
                "the frame has an end: it is not a stream", "hamlet.aggregate aggregates it"
            )
        if trigger is not None and set(trigger) not in ({"processingTime"}, {"availableNow"}):
            raise InputError(
                f"{dict(trigger)} is not a trigger of a stream of batches",
                "name one of processingTime or availableNow, such as "
                "trigger={'processingTime': '10 seconds'}",
            )
        self.session = frame.sparkSession
        self._frame, self._trigger = frame, trigger
        self._source: StreamingFrameSource | None = None

    @property
    def name(self) -> str:
        return NAME

    @property
    def exhausted(self) -> bool:
        """Whether the trigger has ended Spark's query."""
        return self._source is not None and self._source.exhausted

    def check_checkpoint(self, checkpoint: str | None) -> None:
        check_spark_checkpoint(checkpoint)

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        return frame_schema(self._frame)

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        options = self.options
        self._source = StreamingFrameSource(
            self._frame,
            options.needs,
            folder / SPARK_FOLDER,
            name=NAME,
            at=at,
            schema=schema,
            unit=options.unit,
            trigger=self._trigger,
            say=options.wait,
            warn=options.warn,
        )
        return self._source
