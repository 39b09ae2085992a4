"""What `--input` can be on Ray and Spark. Looked at before anything is started, as far as that
goes, so that a mistake is told at once; opened when Spark is there."""

from __future__ import annotations

import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from runtime.errors import InputError
from runtime.generate.spec import split_pace
from runtime.io.bytestream import unpacked
from runtime.io.formats import Format, by_content, by_name, named
from runtime.io.read import listed, open_input, open_needed
from runtime.io.reader import Needs
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.segments import Feed, SegmentSource
from spark_ingest.sources.source import Position, StreamSource
from spark_ingest.sources.stream_inputs import GeneratedFeed, SocketFeed

WAIT_SECONDS = 0.2


@dataclass(frozen=True)
class Asked:
    """What the user said of the input."""

    text: str
    needs: Needs
    follow: bool = False
    format: str | None = None
    unit: str | None = None
    kafka_options: Path | None = None
    avro: Path | None = None
    avro_framed: bool = False
    wait: Callable[[str], None] = lambda what: None


class Input(ABC):
    #: Whether Spark needs more than it brings to read it.
    jars: bool = False

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    def look(self, folder: Path) -> pa.Schema | None:
        """The columns, if they can be known without Spark. `folder` is for temporary files."""
        return None

    @abstractmethod
    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        """`schema` and position `at` are those of an earlier run; `folder` stays for the next."""


class FileInput(Input):
    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._path = Path(asked.text)
        self._format = asked.format

    def look(self, folder: Path) -> pa.Schema | None:
        if self.asked.follow:
            self._await_first()
        return self._columns()

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        return FileSource(
            spark,
            self._path,
            self.asked.needs,
            format=self._format,
            bounded=not self.asked.follow,
            schema=schema,
            unit=self.asked.unit,
        )

    def _columns(self) -> pa.Schema:
        with open_needed(self._path, self.asked.needs, self._format) as found:
            return found.schema

    def _await_first(self) -> None:
        """A folder that is followed may be empty yet."""
        wish = None if self._format is None else named(self._format)
        if not self._path.is_dir():
            raise InputError(
                f"{self._path} is no folder, and only a folder can be followed",
                "files that appear in it are read, each once",
            )
        if not listed(self._path, wish)[0]:
            self.asked.wait(f"waiting for a first file in {self._path}")
        while not listed(self._path, wish)[0]:
            time.sleep(WAIT_SECONDS)


class Copied(FileInput):
    """What Spark cannot read as it is, copied into a file that it can: standard input, and files
    in Arrow's own format."""

    def __init__(self, asked: Asked, stream: BinaryIO | None = None) -> None:
        super().__init__(asked)
        if asked.follow:
            raise InputError(f"{asked.text} cannot be followed", "leave out --follow")
        self._stream = stream

    def look(self, folder: Path) -> pa.Schema | None:
        self._path = self._copied(folder)
        return self._columns()

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        if at is not None:
            raise InputError(
                f"{self.asked.text} cannot be read from where an earlier run stopped",
                "begin anew with another --checkpoint folder",
            )
        source = super().open(spark, folder, schema, at)
        source.name = "stdin" if self.asked.text == "-" else self.asked.text
        return source

    def _copied(self, folder: Path) -> Path:
        if self.asked.text != "-":
            return _as_parquet(Path(self.asked.text), folder)
        stream, head = unpacked(self._stream or sys.stdin.buffer)
        if not head:
            raise InputError("there is nothing on standard input")
        found = by_content(head) if self._format is None else named(self._format)
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


class FeedInput(Input):
    def __init__(self, asked: Asked, feed: Feed, schema: pa.Schema | None, bounded: bool) -> None:
        super().__init__(asked)
        self._feed = feed
        self._schema = schema
        self._bounded = bounded

    def look(self, folder: Path) -> pa.Schema | None:
        return self._schema

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        return SegmentSource(
            spark,
            self._feed,
            folder / "segments",
            self.asked.needs,
            bounded=self._bounded,
            schema=schema or self._schema,
            unit=self.asked.unit,
            start=0 if at is None else at["segment"],
        )


class KafkaInput(Input):
    jars = True

    def __init__(self, asked: Asked) -> None:
        from spark_ingest.kafka.address import parse_address
        from spark_ingest.kafka.options import read_options

        super().__init__(asked)
        self._address = parse_address(asked.text)
        self._options = None if asked.kafka_options is None else read_options(asked.kafka_options)

    def open(
        self, spark: SparkSession, folder: Path, schema: pa.Schema | None, at: Position | None
    ) -> StreamSource:
        from spark_ingest.kafka.avro import read_avsc
        from spark_ingest.sources.kafka import KafkaSource

        asked = self.asked
        avro = None if asked.avro is None else read_avsc(asked.avro, asked.avro_framed)
        return KafkaSource(
            spark,
            self._address,
            asked.needs,
            options=self._options,
            avro=avro,
            bounded=not asked.follow,
            schema=schema,
            unit=asked.unit,
            say=asked.wait,
        )


def input_of(asked: Asked) -> Input:
    scheme, _, rest = asked.text.partition(":")
    if scheme == "generate":
        feed = GeneratedFeed(*split_pace(rest))
        return FeedInput(asked, feed, feed.schema, bounded=not asked.follow)
    if scheme == "socket":
        lines = SocketFeed(asked.text)
        if not asked.follow:
            raise InputError(f"{asked.text} has no end", "follow it with --follow")
        return FeedInput(asked, lines, None, bounded=False)
    if scheme == "kafka":
        return KafkaInput(asked)
    if asked.text == "-":
        return Copied(asked)
    wish = None if asked.format is None else named(asked.format)
    if (wish or by_name(Path(asked.text))) is Format.ARROW:
        return Copied(asked)
    return FileInput(asked)
