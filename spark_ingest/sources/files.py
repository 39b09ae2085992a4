"""Reads files and folders of Parquet, JSON lines or CSV with Spark, each file once.

A bounded input has the files that exist at the start. A followed folder is listed repeatedly, and
new files are read as they appear. They must appear complete, for example by a rename; names that
begin with a dot or an underscore are ignored.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from runtime.errors import InputError
from runtime.io.file_probe import FileKind, UnreadableFile, kind_of, span
from runtime.io.folder import check_listed, gone, list_files
from runtime.io.formats import Format, parse_format
from runtime.io.parquet import rows_of
from runtime.io.read import InputFiles, damage_of, open_request
from runtime.io.reader import ReadRequest
from runtime.io.schema_merge import type_conflict
from runtime.pipeline.dead_letter import dead_source
from runtime.pipeline.event_block import ROW, Origin
from runtime.pipeline.event_contract import EventContract
from runtime.types.time_codec import TimeCodec
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.pipeline.parsed_rows import ParsedRows
from spark_ingest.pipeline.text_rows import csv_rows, json_rows, whole_csv_rows
from spark_ingest.sources.source import Position, SourceFrame, SourceRange, StreamSource
from spark_ingest.sources.spark_types import read_types, spark_schema

# A partition is a task, and a block for a router; more of them in one epoch do not help.
MOST_FILES = 64
# A file is read in pieces of at least this many bytes, so that all cores are busy.
LEAST_SPLIT = 4 << 20
# Arrow, Java and Ray all fail with more than 2 GB at once.
MOST_SPLIT = 128 << 20
WHOLE = 1 << 40
# The kinds of this many files are cached.
KNOWN_KINDS = 1_000


@dataclass(frozen=True)
class InputFile:
    path: str
    size: int
    changed: int
    arrived: float = field(default=0.0, compare=False)

    @property
    def for_spark(self) -> str:
        """The path for Spark, which reads names as patterns and relative paths as its own."""
        return re.sub(r"([\\\[\]{}*?])", r"\\\1", os.path.abspath(self.path))

    @classmethod
    def of(cls, path: Path) -> InputFile:
        known = os.stat(path)
        # The time of the write or of the rename that made it appear.
        return cls(str(path), known.st_size, known.st_mtime_ns, known.st_ctime)


class FileSource(StreamSource):
    def __init__(
        self,
        spark: SparkSession,
        path: Path,
        needs: ReadRequest,
        *,
        format: str | None = None,
        bounded: bool = True,
        schema: pa.Schema | None = None,
        unit: str | None = None,
        follow_links: bool = False,
        warn: Callable[[str], None] = lambda what: None,
    ) -> None:
        """`schema` is that of an earlier run; otherwise it is read from the existing files. `warn`
        is called at each listing."""
        self.name = str(path)
        self.bounded = bounded
        self.skipped: list[str] = []
        self._spark = spark
        self._path = path
        self._needs = needs
        self._wish = None if format is None else parse_format(format)
        self._follow_links = follow_links
        self._warn = warn
        self._names = self._listed()
        self.schema = schema or self._look()
        self._unit = unit
        self._floors: dict[str, int | None] = {}
        self._readers: dict[tuple[pa.Schema, tuple[str, ...]], DataFrameReader] = {}
        self._kinds: dict[InputFile, FileKind | UnreadableFile] = {}
        self._damaged: dict[InputFile, UnreadableFile] = {}

    # ---- available files -------------------------------------------------------------------

    def first(self) -> Position:
        return {"files": []}

    def next(self, position: Position, limit: int) -> SourceRange | None:
        """A position has the names of all files that were read and still exist."""
        if not self.bounded:
            self._names = self._listed()
        seen = set(position["files"])
        waiting = self._files([name for name in self._names if name not in seen])
        chosen = list(_first_of(waiting.values(), limit, self._kind))
        if not chosen:
            return None
        there = [name for name in self._names if name in seen]
        end = {"files": [*there, *list(waiting)[: len(chosen)]]}
        return SourceRange(position, end, chosen, *self._about(chosen))

    def between(self, start: Position, end: Position) -> SourceRange:
        seen = set(start["files"])
        folder = self._path if self._path.is_dir() else self._path.parent
        names = check_listed(folder, end.get("files"), {*seen, *self._listed()})
        try:
            files = [self._file(name) for name in names if name not in seen]
        except FileNotFoundError as error:  # since the listing
            raise gone(error.filename) from None
        return SourceRange(start, end, files, *self._about(files))

    def _about(self, files: Sequence[InputFile]) -> tuple[int, float]:
        """The size of the files, and the arrival of the last one; now, if the input is bounded."""
        now = time.time()
        came = now if self.bounded else min(now, max(file.arrived for file in files))
        return sum(file.size for file in files), came

    def backlog(self, position: Position) -> int:
        seen = set(position["files"])
        waiting = [name for name in self._names if name not in seen]
        sizes = [file.size for file in self._files(waiting).values()]
        # Many files are similar: an estimate needs only some of them.
        return sum(sizes) * len(waiting) // len(sizes) if sizes else 0

    def _listed(self) -> list[str]:
        """Names in the folder, in order."""
        if not self._path.is_dir():
            return [self._path.name]
        found = list_files(self._path, self._wish, self._follow_links)
        self.skipped = found.skipped
        for warning in found.warnings():
            self._warn(warning)
        return found.files

    def _files(self, names: list[str]) -> dict[str, InputFile]:
        """The first of the files, without deleted ones."""
        found = {}
        for name in names[:MOST_FILES]:
            with suppress(FileNotFoundError):
                found[name] = self._file(name)
        return found

    def _file(self, name: str) -> InputFile:
        return InputFile.of(Path(self._at(name)))

    def _at(self, name: str) -> str:
        return str(self._path / name if self._path.is_dir() else self._path)

    def _look(self) -> pa.Schema:
        with self._opened() as found:
            return found.schema

    def clock(self) -> pa.DataType | None:
        """The type of times in text, by the first row that has one."""
        clock = TimeCodec(self.schema.field(self._needs.time_column).type, self._unit)
        if clock.decided:
            return None
        with self._opened() as found:
            for block in found:
                clock.to_micros(block.batch.column(self._needs.time_column))
                if clock.decided:
                    return clock.type
        return None

    def _opened(self) -> InputFiles:
        wish = None if self._wish is None else self._wish.value
        return open_request(self._path, self._needs, wish, self._follow_links)

    def _kind(self, file: InputFile) -> FileKind | UnreadableFile:
        if len(self._kinds) > KNOWN_KINDS:
            self._kinds.clear()
        if file not in self._kinds:
            kind = kind_of(Path(file.path), self._needs, self._wish)
            self._kinds[file] = kind
        return self._kinds[file]

    # ---- a range as a frame ----------------------------------------------------------------

    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        columns = pipeline.columns
        lost = self._lost(wanted, columns)
        files: list[InputFile] = [file for file in wanted.work if file not in lost]
        contract = self._needs.contract(_chosen(self.schema, columns))
        floor = self._floor(wanted)
        if not files:
            return SourceFrame(None, contract, lost=list(lost.values()), floor=floor)
        kind = self._kind(files[0])
        assert isinstance(kind, FileKind)
        self._split(self._piece_size(wanted, kind))
        frame = pipeline.apply(self._parsed(files, kind, contract))
        pieces = _pieces(frame)
        places = {os.path.abspath(file.path): place for place, file in enumerate(files)}
        order = _ranks([(places[path], start) for path, start in pieces])
        fields = None if kind.header is None else len(kind.header)
        numbered = ROW in frame.columns
        origins = [self._origin(files[places[path]], fields, numbered) for path, _ in pieces]
        raw = None
        if kind.format is Format.PARQUET:
            named = {self._shown(file.path): Path(file.path) for file in files}
            raw = lambda source, rows: rows_of(named[source], rows)  # noqa: E731
        return SourceFrame(frame, contract, origins, order, list(lost.values()), floor, raw)

    def _piece_size(self, wanted: SourceRange, kind: FileKind) -> int:
        """So that all cores are busy. A compressed file of text is one piece."""
        if kind.packed:
            return WHOLE
        return min(MOST_SPLIT, max(LEAST_SPLIT, wanted.bytes // (2 * self._cores)))

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

    def _origin(self, file: InputFile, fields: int | None, numbered: bool) -> Origin:
        """A bounded input has no arrivals. Rows may be `numbered` already."""
        arrived = None if self.bounded else min(file.arrived, time.time())
        first = None if numbered else 0
        return Origin(self._shown(file.path), arrived=arrived, first=first, fields=fields)

    def _lost(self, wanted: SourceRange, columns: Sequence[str]) -> dict[InputFile, pa.Table]:
        """Files that cannot be read, with their dead letters."""
        lost = {}
        for file in wanted.work:
            reason = self._obstacle(file, columns)
            if reason is not None:
                if self._single:
                    raise InputError(f"cannot read {file.path}: {reason}")
                why = f"damaged: {reason}" if file in self._damaged else reason
                lost[file] = dead_source(self._shown(file.path), why)
        return lost

    def _obstacle(self, file: InputFile, columns: Sequence[str]) -> str | None:
        kind = self._damaged.get(file) or self._kind(file)
        if isinstance(kind, UnreadableFile):
            return kind.reason
        return None if kind.schema is None else type_conflict(self.schema, kind.schema, columns)

    def quarantine_unreadable(self, wanted: SourceRange) -> bool:
        before = len(self._damaged)
        for file in wanted.work:
            kind = self._kind(file)
            if isinstance(kind, FileKind) and file not in self._damaged:
                reason = damage_of(Path(file.path), self._needs, kind.format)
                if reason is not None:
                    self._damaged[file] = UnreadableFile(reason)
        return len(self._damaged) > before

    def _shown(self, path: str) -> str:
        """The name of a file in dead letters."""
        return path

    @property
    def _single(self) -> bool:
        """Whether there is one file: in a folder, a damaged file does not end the job."""
        return not self._path.is_dir()

    @property
    def _cores(self) -> int:
        return self._spark.sparkContext.defaultParallelism

    def _split(self, size: int) -> None:
        """Makes each partition a piece of one file, so that the origin of its rows is known."""
        for name in ("maxPartitionBytes", "openCostInBytes"):
            self._spark.conf.set(f"spark.sql.files.{name}", str(size))

    def _floor(self, wanted: SourceRange) -> int | None:
        """The earliest time of the files still to read, if their footers have it."""
        if not self.bounded:
            return None
        read = set(wanted.end["files"])
        rest = [self._at(name) for name in self._names if name not in read]
        floors = [self._earliest(path) for path in rest]
        known = [floor for floor in floors if floor is not None]
        return min(known) if known and len(known) == len(rest) else None

    def _earliest(self, path: str) -> int | None:
        if path not in self._floors:
            known = span(Path(path), self._needs.time_column, self._unit)
            self._floors[path] = None if known is None else known[0]
        return self._floors[path]

    def _parquet(self, files: list[InputFile], kind: FileKind, columns: Sequence[str]) -> DataFrame:
        """Passes the schema to Spark, which would otherwise run a job to read footers."""
        assert kind.schema is not None
        known = kind.schema, tuple(columns)
        if known not in self._readers:
            schema = spark_schema(*known, files[0].path)
            # Entries of columns that are no longer used are dropped.
            self._readers = {known: self._spark.read.schema(schema)}
        return self._readers[known].parquet(*[file.for_spark for file in files])


def _first_of(
    waiting: Iterable[InputFile],
    limit: int,
    kind_of: Callable[[InputFile], FileKind | UnreadableFile],
) -> Iterator[InputFile]:
    """As many files of one kind as fit, at least one."""
    size, first = 0, None
    for file in waiting:
        kind = kind_of(file)
        size += file.size
        if first is not None and (size > limit or kind != first):
            return
        first = kind
        yield file


def _chosen(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in columns])


def _pieces(frame: DataFrame) -> list[tuple[str, int]]:
    """The file of each partition, and the partition's offset in it."""
    plan: Any = frame._jdf.queryExecution()
    found = []
    for partition in plan.toRdd().partitions():
        file = partition.files()[0]
        found.append((str(file.toPath().toUri().getPath()), int(file.start())))
    return found


def _ranks(keys: list[tuple[int, int]]) -> list[int]:
    """The rank of each."""
    ranks = [0] * len(keys)
    for place, number in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        ranks[number] = place
    return ranks
