"""Reads files as Spark frames whose partitions are known pieces of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from runtime.errors import EnvironmentFailure
from runtime.io.file_probe import FileKind
from runtime.io.formats import Format
from runtime.io.reader import ReadRequest
from runtime.pipeline.event_contract import EventContract
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.pipeline.parsed_rows import ParsedRows
from spark_ingest.pipeline.text_rows import csv_rows, json_rows, whole_csv_rows
from spark_ingest.sources.file_ranges import FilePart, InputFile, piece_size
from spark_ingest.sources.spark_types import read_types, spark_schema

# The length of pieces of a file that cannot be split.
WHOLE = 1 << 40


@dataclass(frozen=True)
class FileFrame:
    """Partition i of the frame is a piece of `files[i]`, or of the one file of a part; `order[i]`
    is its rank. `only` are the partitions of the part."""

    frame: DataFrame
    files: list[InputFile]
    order: list[int]
    only: list[int] | None = None


class FileFrames:
    def __init__(self, spark: SparkSession, needs: ReadRequest) -> None:
        self._spark = spark
        self._needs = needs
        self._readers: dict[tuple[pa.Schema, tuple[str, ...]], DataFrameReader] = {}
        self._large: tuple[tuple[InputFile, int, EventPipeline], DataFrame] | None = None

    def whole(
        self,
        files: list[InputFile],
        kind: FileKind,
        contract: EventContract,
        pipeline: EventPipeline,
    ) -> FileFrame:
        """Files of one kind, each in pieces, so that all cores are busy."""
        size = sum(file.size for file in files)
        self._split(piece_size(size, self.cores) if not kind.packed else WHOLE)
        frame = pipeline.apply(self._parsed(files, kind, contract))
        pieces = _Partitions(frame).all()
        places = {file.stored: place for place, file in enumerate(files)}
        order = _ranks([(places[path], start) for path, start in pieces])
        return FileFrame(frame, [files[places[path]] for path, _ in pieces], order)

    def part(
        self,
        part: FilePart,
        kind: FileKind,
        contract: EventContract,
        pipeline: EventPipeline,
    ) -> FileFrame:
        """The pieces of a part. Spark plans the file once for all parts."""
        key = part.file, part.piece, pipeline
        if self._large is None or self._large[0] != key:
            self._split(part.piece)
            frame = pipeline.apply(self._parsed([part.file], kind, contract))
            _check_pieces(_Partitions(frame), part)
            self._large = key, frame
        only = list(part.pieces)
        return FileFrame(self._large[1], [part.file] * len(only), list(range(len(only))), only)

    @property
    def cores(self) -> int:
        return self._spark.sparkContext.defaultParallelism

    def _parsed(
        self, files: list[InputFile], kind: FileKind, contract: EventContract
    ) -> ParsedRows:
        paths = [file.for_spark for file in files]
        if kind.format is Format.PARQUET:
            assert kind.schema is not None
            frame = self._parquet(files, kind, contract.columns.names)
            return ParsedRows(frame, read_types(kind.schema), contract)
        if kind.format is Format.JSON:
            return json_rows(self._spark, paths, contract)
        assert kind.header is not None
        rows = whole_csv_rows if self._needs.multiline else csv_rows
        return rows(self._spark, paths, kind.header, contract)

    def _parquet(self, files: list[InputFile], kind: FileKind, columns: Sequence[str]) -> DataFrame:
        """Passes the schema to Spark, which would otherwise run a job to read footers."""
        assert kind.schema is not None
        known = kind.schema, tuple(columns)
        if known not in self._readers:
            schema = spark_schema(*known, files[0].path)
            # Entries of columns that are no longer used are dropped.
            self._readers = {known: self._spark.read.schema(schema)}
        return self._readers[known].parquet(*[file.for_spark for file in files])

    def _split(self, size: int) -> None:
        """Makes each partition a piece of one file, so that the origin of its rows is known."""
        for name in ("maxPartitionBytes", "openCostInBytes"):
            self._spark.conf.set(f"spark.sql.files.{name}", str(size))


class _Partitions:
    """The partitions of a frame: the file of each, and the offset in it."""

    def __init__(self, frame: DataFrame) -> None:
        plan: Any = frame._jdf.queryExecution()
        self._partitions = plan.toRdd().partitions()

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, number: int) -> tuple[str, int]:
        file = self._partitions[number].files()[0]
        return str(file.toPath().toUri().getPath()), int(file.start())

    def all(self) -> list[tuple[str, int]]:
        return [self[number] for number in range(len(self))]


def _check_pieces(found: _Partitions, part: FilePart) -> None:
    """Spark makes pieces of equal length and lists longer ones first, so piece i is partition i.
    Asking for each would take long."""
    whole = FilePart(part.file, 0, part.file.size, part.piece)
    last = len(whole.pieces) - 1
    ends = [(part.file.stored, 0), (part.file.stored, last * part.piece)]
    if len(found) != last + 1 or [found[0], found[last]] != ends:
        raise EnvironmentFailure(
            f"Spark split {part.file.path} into {len(found)} pieces, not {last + 1}",
            "remove spark.sql.files settings from Spark's configuration",
        )


def _ranks(keys: list[tuple[int, int]]) -> list[int]:
    """The rank of each."""
    ranks = [0] * len(keys)
    for place, number in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        ranks[number] = place
    return ranks
