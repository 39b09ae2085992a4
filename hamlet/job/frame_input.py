"""A frame of Spark that a user made, as the input of a job."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from hamlet.job.resolved_input import InputOptions, ResolvedInput
from runtime.errors import InputError
from spark_ingest.sources.frame import FrameSource
from spark_ingest.sources.frame_rows import frame_schema
from spark_ingest.sources.source import Position, StreamSource

NAME = "DataFrame"


class FrameInput(ResolvedInput):
    def __init__(self, options: InputOptions, frame: DataFrame) -> None:
        super().__init__(options)
        self.session = frame.sparkSession
        self._frame = frame

    @property
    def name(self) -> str:
        return NAME

    def check_resumable(self, finished: bool) -> None:
        """Nor are results of an earlier frame those of this one: frames have no names."""
        raise InputError(
            "a DataFrame cannot be read from where an earlier run stopped",
            "start over with a new checkpoint folder",
        )

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        return frame_schema(self._frame)

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        options = self.options
        return FrameSource(spark, self._frame, options.needs, name=NAME, unit=options.unit)
