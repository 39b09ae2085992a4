"""An `--input` that Spark reads by itself, from any of its formats: `spark:FORMAT?option=value`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from hamlet.job.resolved_input import InputOptions, ResolvedInput
from runtime.errors import InputError
from spark_ingest.option_file import read_option_file
from spark_ingest.sources.frame import FrameSource
from spark_ingest.sources.frame_rows import our_session
from spark_ingest.sources.source import Position, StreamSource
from spark_ingest.sources.spark_format import (
    NEEDS,
    at_one_version,
    load,
    with_batch_limit,
    without_batch_limit,
)
from spark_ingest.sources.streaming_frame import StreamingFrameSource
from spark_ingest.spark_address import parse_spark_address
from spark_ingest.spark_needs import SparkNeeds

#: In the folder of the checkpoint.
SPARK_FOLDER = "spark"

# The size of a partition of files. Spark's own is 128 MB, too much for an epoch of several.
_FILE_PARTITION = str(16 << 20)


class SparkFormatInput(ResolvedInput):
    def __init__(self, options: InputOptions) -> None:
        super().__init__(options)
        self._address = parse_spark_address(options.text)
        if options.format is not None:
            raise InputError(
                f"--input {self._address} names a format already", "leave out --input-format"
            )
        self._options = _more_options(options.spark_options, self._address.options)
        self.spark_needs = NEEDS.get(self._address.format.lower(), SparkNeeds())


class SparkInput(SparkFormatInput):
    """It ends."""

    @property
    def name(self) -> str:
        return str(self._address)

    def check_resumable(self, finished: bool) -> None:
        if not finished:
            raise InputError(
                f"{self.name} cannot be read from where an earlier run stopped: Spark may divide "
                "it in another way",
                "start over with a new --checkpoint folder",
            )

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        session = our_session(spark)
        session.conf.set("spark.sql.files.maxPartitionBytes", _FILE_PARTITION)
        address = at_one_version(session, self._address)
        frame = load(session.read, address, self._options)
        options = self.options
        return FrameSource(
            spark, frame, options.needs, name=self.name, schema=schema, unit=options.unit
        )


class SparkStreamInput(SparkFormatInput):
    """It is followed. Spark keeps the positions of its sources in a folder of the checkpoint."""

    @property
    def name(self) -> str:
        return str(without_batch_limit(self._address))

    def check_checkpoint(self, checkpoint: str | None) -> None:
        check_spark_checkpoint(checkpoint)

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        session, options = our_session(spark), self.options
        session.conf.set("spark.sql.streaming.schemaInference", "true")
        return StreamingFrameSource(
            load(session.readStream, with_batch_limit(self._address), self._options),
            options.needs,
            folder / SPARK_FOLDER,
            name=self.name,
            at=at,
            schema=schema,
            unit=options.unit,
            say=options.wait,
            warn=options.warn,
        )


def check_spark_checkpoint(checkpoint: str | None) -> None:
    """Spark's query writes to a disk: for object stores it needs connectors of Hadoop."""
    if checkpoint is not None and "://" in checkpoint:
        raise InputError(
            f"a streaming query of Spark cannot keep its checkpoint in {checkpoint}",
            "name a folder on a disk with --checkpoint, which all machines of a cluster share",
        )


def _more_options(file: Path | None, given: Mapping[str, str]) -> dict[str, str]:
    """The options of a file, which may be secrets."""
    if file is None:
        return {}
    found = {}
    for option in read_option_file(file):
        if option.name.lower() in map(str.lower, given):
            raise InputError(f"{option.place}: `{option.name}` is in the address as well")
        found[option.name] = option.value
    return found
