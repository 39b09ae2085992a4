"""Resolves `--input` for a job on Ray and Spark: files, standard input, Kafka, any format of
Spark, sockets, generators.

An input is checked before anything is started, so that errors are reported at once, and opened
when Spark runs.
"""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from hamlet.job.resolved_input import InputOptions, ResolvedInput
from hamlet.job.spark_input import SparkInput, SparkStreamInput
from runtime.errors import InputError
from runtime.generate.spec import split_pace
from runtime.io.bytestream import decompressed
from runtime.io.folder import WarnOnce, check_name, list_files
from runtime.io.formats import Format, by_content, by_name, parse_format
from runtime.io.input_options import InputPath, split_options
from runtime.io.read import open_input, open_request
from spark_ingest.jars import KAFKA_SOURCE
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.segments import Feed, SegmentSource, segment_of
from spark_ingest.sources.source import Position, StreamSource
from spark_ingest.sources.stream_inputs import GeneratedFeed, SocketFeed
from spark_ingest.spark_needs import SparkNeeds

WAIT_SECONDS = 0.2


class FileInput(ResolvedInput):
    def __init__(self, options: InputOptions) -> None:
        super().__init__(options)
        self._path = Path(options.text)
        self._format = options.format
        self._warn = WarnOnce(options.warn)

    @property
    def name(self) -> str:
        # Another reading of quotes is another input.
        return str(InputPath(str(self._path), self.options.needs.multiline))

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        if self.options.follow:
            self._await_first()
        return self._columns()

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        return FileSource(
            spark,
            self._path,
            self.options.needs,
            format=self._format,
            bounded=not self.options.follow,
            schema=schema,
            unit=self.options.unit,
            follow_links=self.options.follow_links,
            warn=self._warn,
            unpack_to=folder if self.options.unpack else None,
        )

    def _columns(self) -> pa.Schema:
        links = self.options.follow_links
        with open_request(self._path, self.options.needs, self._format, links) as found:
            return found.schema

    def _await_first(self) -> None:
        """A followed folder may still be empty."""
        if not self._path.is_dir():
            raise InputError(
                f"{self._path} is not a folder, and only a folder can be followed",
                "each file that appears in the folder is read once",
            )
        if not self._has_files():
            self.options.wait(f"waiting for a first file in {self._path}")
        while not self._has_files():
            time.sleep(WAIT_SECONDS)

    def _has_files(self) -> bool:
        wish = None if self._format is None else parse_format(self._format)
        found = list_files(self._path, wish, self.options.follow_links)
        for warning in found.warnings():
            self._warn(warning)
        return bool(found.files)


class CopiedInput(FileInput):
    """An input that Spark cannot read: it is copied to a file first. These are standard input and
    files in Arrow's own format."""

    def __init__(self, options: InputOptions, stream: BinaryIO | None = None) -> None:
        super().__init__(options)
        if options.follow:
            raise InputError(f"{options.text} cannot be followed", "leave out --follow")
        self._stream = stream

    @property
    def name(self) -> str:
        return "stdin" if self.options.text == "-" else self.options.text

    def check_resumable(self, finished: bool) -> None:
        raise InputError(
            f"{self.options.text} cannot be read from where an earlier run stopped",
            "start over with a new --checkpoint folder",
        )

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        self._path = self._copied(folder)
        return self._columns()

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        source = super().open(spark, folder, schema, at)
        source.name = self.name
        return source

    def _copied(self, folder: Path) -> Path:
        if self.options.text != "-":
            return _as_parquet(Path(self.options.text), folder)
        stream, head = decompressed(self._stream or sys.stdin.buffer)
        if not head:
            raise InputError("there is nothing on standard input")
        found = by_content(head) if self._format is None else parse_format(self._format)
        self._format = found.value
        path = folder / f"stdin.{found.value}"
        with open(path, "wb") as file:
            shutil.copyfileobj(stream, file)
        return _as_parquet(path, folder) if found is Format.ARROW else path


def _as_parquet(path: Path, folder: Path) -> Path:
    copy = folder / f"{path.stem}.parquet"
    with open_input(path) as found, pq.ParquetWriter(copy, found.schema) as writer:
        for block in found:
            writer.write_batch(block.batch)
    return copy


class FeedInput(ResolvedInput):
    def __init__(
        self, options: InputOptions, feed: Feed, schema: pa.Schema | None, bounded: bool
    ) -> None:
        super().__init__(options)
        self._feed = feed
        self._schema = schema
        self._bounded = bounded

    @property
    def name(self) -> str:
        return self._feed.name

    def check_explainable(self) -> None:
        if not self._feed.repeatable:
            raise InputError(
                f"{self.name} cannot be explained: rows that are read from it are gone",
                "give a file with some of its rows",
            )

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        return self._schema

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        return SegmentSource(
            spark,
            self._feed,
            folder / "segments",
            self.options.needs,
            bounded=self._bounded,
            schema=schema or self._schema,
            unit=self.options.unit,
            start=0 if at is None else segment_of(at),
            owner=self.owner,
            warn=self.options.warn,
        )


class KafkaInput(ResolvedInput):
    spark_needs = SparkNeeds(KAFKA_SOURCE)

    def __init__(self, options: InputOptions) -> None:
        from spark_ingest.kafka.address import parse_address
        from spark_ingest.kafka.avro import read_avsc
        from spark_ingest.kafka.options import read_options

        super().__init__(options)
        self._address = parse_address(options.text)
        self._options = (
            None if options.kafka_options is None else read_options(options.kafka_options)
        )
        avro, framed = options.avro, options.avro_framed
        self._avro = None if avro is None else read_avsc(avro, framed)

    @property
    def name(self) -> str:
        return str(self._address)

    def probe_schema(self, folder: Path) -> pa.Schema | None:
        """The columns are not known, but whether the brokers answer this user, and the topic."""
        from spark_ingest.kafka.options import KafkaOptions
        from spark_ingest.kafka.topic_metadata import TopicMetadata

        say, options = self.options.wait, self._options or KafkaOptions()
        TopicMetadata(self._address, options, say=say).partitions()
        return None

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        from spark_ingest.sources.kafka import KafkaSource

        options = self.options
        return KafkaSource(
            spark,
            self._address,
            options.needs,
            options=self._options,
            avro=self._avro,
            bounded=not options.follow,
            schema=schema,
            unit=options.unit,
            say=options.wait,
        )


def resolve_input(options: InputOptions) -> ResolvedInput:
    check_name(options.text)
    scheme, _, rest = options.text.partition(":")
    if scheme == "generate":
        feed = GeneratedFeed(*split_pace(rest))
        return FeedInput(options, feed, feed.schema, bounded=not options.follow)
    if scheme == "socket":
        lines = SocketFeed(options.text)
        if not options.follow:
            raise InputError(f"{options.text} has no end", "follow it with --follow")
        return FeedInput(options, lines, None, bounded=False)
    if scheme == "kafka":
        return KafkaInput(options)
    if scheme == "spark":
        return SparkStreamInput(options) if options.follow else SparkInput(options)
    path, multiline = split_options(options.text)
    options = replace(options, text=path, needs=replace(options.needs, multiline=multiline))
    if options.text == "-":
        return CopiedInput(options)
    wish = None if options.format is None else parse_format(options.format)
    if (wish or by_name(Path(options.text))) is Format.ARROW:
        return CopiedInput(options)
    return FileInput(options)
