"""Reads files and folders of Parquet, JSON lines or CSV with Spark, each file once, a large one in
several epochs.

A bounded input has the files that exist at the start. A followed folder is listed repeatedly, and
new files are read as they appear. They must appear complete, for example by a rename; names that
begin with a dot or an underscore are ignored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from runtime.errors import InputError
from runtime.io.file_probe import FileKind, UnreadableFile, kind_of
from runtime.io.folder import FolderListing, check_listed, gone, leads_outside, list_files
from runtime.io.formats import Format, by_name, parse_format
from runtime.io.parquet import rows_of
from runtime.io.read import InputFiles, damage_of, open_request
from runtime.io.reader import ReadRequest
from runtime.io.row_groups import RowGroup, earliest_from, row_groups, rows_between
from runtime.io.schema_merge import type_conflict
from runtime.pipeline.dead_letter import dead_source
from runtime.pipeline.event_block import ROW, Origin
from runtime.pipeline.row_numbers import SourcePart
from runtime.types.time_codec import TimeCodec
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.file_frames import FileFrames
from spark_ingest.sources.file_ranges import (
    FilePart,
    InputFile,
    check_unchanged,
    end_of_file,
    files_of,
    first_of_a_kind,
    next_part,
    part_between,
    piece_size,
    position_after,
    rest_of_part,
)
from spark_ingest.sources.source import Position, SourceFrame, SourceRange, StreamSource
from spark_ingest.sources.unpacked_files import UnpackedFiles

# A partition is a task, and a block for a router; more of them in one epoch do not help.
MOST_FILES = 64
# Spark reads a row group at once, so this is the least that an epoch of its file can have.
MOST_ROW_GROUP = 64 << 20
# The kinds of this many files are cached.
KNOWN_KINDS = 1_000


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
        unpack_to: Path | None = None,
    ) -> None:
        """`schema` is that of an earlier run; otherwise it is read from the existing files. `warn`
        is called at each listing. `unpack_to` is for large compressed files, else read whole."""
        self.name = str(path)
        self.bounded = bounded
        self.skipped: list[str] = []
        self._path = path
        self._needs = needs
        self._wish = None if format is None else parse_format(format)
        self._follow_links = follow_links
        self._warn = warn
        self._listing = FolderListing([])
        self._names = self._listed()
        self.schema = schema or self._look()
        self._unit = unit
        self._footers: dict[str, tuple[RowGroup, ...] | None] = {}
        self._frames = FileFrames(spark, needs)
        self._kinds: dict[InputFile, FileKind | UnreadableFile] = {}
        self._damaged: dict[InputFile, UnreadableFile] = {}
        self._unpacked = UnpackedFiles(unpack_to)

    # ---- available files -------------------------------------------------------------------

    def first(self) -> Position:
        return {"files": []}

    def next(self, position: Position, limit: int) -> SourceRange | None:
        """A position has the names of all files that were read and still exist, and how far a
        large one was read."""
        if not self.bounded:
            self._names = self._listed()
        seen = set(position["files"])
        there = [name for name in self._names if name in seen]
        # A folder that cannot be read now may be readable later, and is not to be read again.
        there += self._listing.hidden(position["files"])
        begun = position.get("part")
        if begun is not None:
            file = self._begun(begun)
            return self._part(position, there, begun["file"], file, begun["at"], limit)
        waiting = self._files([name for name in self._names if name not in seen])
        chosen: list[InputFile] = []
        measured = partial(self._measured, limit=limit)
        for file in first_of_a_kind(waiting.values(), limit, self._kind, measured):
            if self._is_large(file, limit):
                break
            chosen.append(file)
        if chosen:
            end = {"files": [*there, *list(waiting)[: len(chosen)]]}
            return SourceRange(position, end, chosen, *self._about(chosen))
        for name, file in waiting.items():
            return self._part(position, there, name, measured(file), 0, limit)
        return None

    def _is_large(self, file: InputFile, limit: int) -> bool:
        """Whether a file takes several epochs: it can be split, and is larger than an epoch."""
        kind = self._kind(file)
        if file.size <= limit or isinstance(kind, UnreadableFile):
            return False
        packed = kind.packed and file.copy is None
        whole = packed or (kind.format is Format.CSV and self._needs.multiline)
        return not whole and file.size > piece_size(limit, self._frames.cores)

    def _measured(self, file: InputFile, limit: int) -> InputFile:
        """The file with the size of its content, unpacked if it takes several epochs."""
        if isinstance(self._kind(file), FileKind) and file not in self._damaged:
            try:
                return self._unpacked.measured(file, limit)
            except InputError as error:
                self._damaged[file] = UnreadableFile(error.message)
        return file

    def _part(
        self,
        position: Position,
        there: Sequence[str],
        name: str,
        file: InputFile,
        at: int,
        limit: int,
    ) -> SourceRange:
        """The next part of a large file, from the offset `at` on."""
        begun, kind = position.get("part"), self._kind(file)
        piece = piece_size(limit, self._frames.cores) if begun is None else begun["piece"]
        parquet = isinstance(kind, FileKind) and kind.format is Format.PARQUET
        groups = self._row_groups(file.path) if parquet else None
        part = next_part(file, at, piece, limit, groups)
        if isinstance(kind, UnreadableFile):
            part = part.rest()
        return self._range_of(part, position, position_after(there, name, part))

    def _range_of(self, part: FilePart, start: Position, end: Position) -> SourceRange:
        _, arrived = self._about([part.file])
        return SourceRange(start, end, part, part.bytes, arrived)

    def _begun(self, part: dict[str, Any]) -> InputFile:
        """A file of which a part was read. If it has gone, reading it will tell."""
        folder = self._path if self._path.is_dir() else self._path.parent
        try:
            (name,) = check_listed(folder, [part["file"]], self._names)
            file = self._unpacked.unpacked(self._file(name))
        except (InputError, FileNotFoundError):
            return InputFile(self._at(part["file"]), part["size"], part["changed"], time.time())
        check_unchanged(part, file)
        return file

    def between(self, start: Position, end: Position) -> SourceRange:
        found = part_between(start, end)
        if found is not None:
            part, at, until = found
            (file,) = map(self._unpacked.unpacked, self._files_again([part["file"]]))
            check_unchanged(part, file)
            until = file.size if until is None else until
            return self._range_of(FilePart(file, at, until, part["piece"]), start, end)
        files = self._files_again(end.get("files"), set(start["files"]))
        return SourceRange(start, end, files, *self._about(files))

    def _files_again(self, names: object, seen: Collection[str] = ()) -> list[InputFile]:
        """Files that a position names, less those that were `seen`."""
        folder = self._path if self._path.is_dir() else self._path.parent
        checked = check_listed(folder, names, {*seen, *self._listed()})
        try:
            return [self._file(name) for name in checked if name not in seen]
        except FileNotFoundError as error:  # since the listing
            raise gone(error.filename) from None

    def _about(self, files: Sequence[InputFile]) -> tuple[int, float]:
        """The size of the files, and the arrival of the last one; now, if the input is bounded."""
        now = time.time()
        came = now if self.bounded else min(now, max(file.arrived for file in files))
        return sum(file.size for file in files), came

    def backlog(self, position: Position) -> int:
        begun, rest = rest_of_part(position)
        seen = {*position["files"], begun}
        waiting = [name for name in self._names if name not in seen]
        files = self._files(waiting)
        size = sum(file.size for file in files.values())
        # Many files are similar: an estimate needs only some of them.
        return rest + (size * len(waiting) // len(files) if files else 0)

    def committed(self, position: Position) -> None:
        self._unpacked.drop(map(self._at, position["files"]), within="part" in position)

    def close(self) -> None:
        self._unpacked.close()

    def _listed(self) -> list[str]:
        """Names in the folder, in order."""
        if not self._path.is_dir():
            return [self._path.name]
        self._listing = found = list_files(self._path, self._wish, self._follow_links)
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
            self._kinds[file] = kind_of(Path(file.path), self._needs, self._wish)
        return self._kinds[file]

    # ---- a range as a frame ----------------------------------------------------------------

    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        columns = pipeline.columns
        lost = self._lost(wanted, columns)
        files = [file for file in files_of(wanted.work) if file not in lost]
        contract = self._needs.contract(pa.schema([self.schema.field(name) for name in columns]))
        part = wanted.work if isinstance(wanted.work, FilePart) else None
        read = SourceFrame(None, contract, lost=list(lost.values()), floor=self._floor(wanted))
        if not files:
            return read if part is None else replace(read, part=self._source_part(part))
        kind = self._kind(files[0])
        assert isinstance(kind, FileKind)
        if part is not None:
            return self._read_part(part, kind, pipeline, read)
        found = self._frames.whole(files, kind, contract, pipeline)
        first = None if ROW in found.frame.columns else 0
        origins = [self._origin(file, kind, first) for file in found.files]
        raw = self._raw(files, kind)
        return replace(read, frame=found.frame, origins=origins, order=found.order, raw=raw)

    def _read_part(
        self, part: FilePart, kind: FileKind, pipeline: EventPipeline, read: SourceFrame
    ) -> SourceFrame:
        """Rows of Parquet are numbered by the footer, those of text when they are committed."""
        found = self._frames.part(part, kind, read.contract, pipeline)
        read = replace(read, frame=found.frame, order=found.order, only=found.only)
        groups = self._row_groups(part.file.path) if kind.format is Format.PARQUET else None
        first = 0
        if groups is None:
            read = replace(read, part=self._source_part(part))
        else:
            first = rows_between(groups, 0, part.at)
            rows = rows_between(groups, part.at, part.until)
            read = replace(read, raw=self._raw([part.file], kind), rows=rows)
        return replace(read, origins=[self._origin(file, kind, first) for file in found.files])

    def _source_part(self, part: FilePart) -> SourcePart:
        return SourcePart(self._shown(part.file.path), part.is_last)

    def _raw(
        self, files: list[InputFile], kind: FileKind
    ) -> Callable[[str, Sequence[int]], list[str]] | None:
        """Reads rows of Parquet once more, with all columns."""
        if kind.format is not Format.PARQUET:
            return None
        named = {self._shown(file.path): Path(file.path) for file in files}
        return lambda source, rows: rows_of(named[source], rows)

    def _origin(self, file: InputFile, kind: FileKind, first: int | None) -> Origin:
        """A bounded input has no arrivals."""
        arrived = None if self.bounded else min(file.arrived, time.time())
        fields = None if kind.header is None else len(kind.header)
        return Origin(self._shown(file.path), arrived=arrived, first=first, fields=fields)

    def _lost(self, wanted: SourceRange, columns: Sequence[str]) -> dict[InputFile, pa.Table]:
        """Files that cannot be read, with their dead letters."""
        lost = {}
        for file in files_of(wanted.work):
            reason = self._obstacle(file, columns)
            if reason is not None:
                if self._single:
                    raise InputError(f"cannot read {file.path}: {reason}")
                why = f"damaged: {reason}" if file in self._damaged else reason
                lost[file] = dead_source(self._shown(file.path), why)
        return lost

    def _obstacle(self, file: InputFile, columns: Sequence[str]) -> str | None:
        if not (self._single or self._follow_links) and leads_outside(self._path, file.path):
            return "it has become a link that leads out of the folder"
        kind = self._damaged.get(file) or self._kind(file)
        if isinstance(kind, UnreadableFile):
            return kind.reason
        return None if kind.schema is None else type_conflict(self.schema, kind.schema, columns)

    def quarantine_unreadable(self, wanted: SourceRange) -> SourceRange | None:
        """Damaged files are skipped from this range on."""
        before = len(self._damaged)
        for file in files_of(wanted.work):
            kind = self._kind(file)
            if isinstance(kind, FileKind) and file not in self._damaged:
                reason = damage_of(Path(file.path), self._needs, kind.format)
                if reason is not None:
                    self._damaged[file] = UnreadableFile(reason)
        if len(self._damaged) == before:
            return None
        if not isinstance(wanted.work, FilePart):
            return wanted
        return self._range_of(wanted.work.rest(), wanted.start, end_of_file(wanted))

    def _shown(self, path: str) -> str:
        """The name of a file in dead letters."""
        return path

    @property
    def _single(self) -> bool:
        """Whether there is one file: in a folder, a damaged file does not end the job."""
        return not self._path.is_dir()

    def _floor(self, wanted: SourceRange) -> int | None:
        """The earliest time of what is still to read, if footers have it."""
        if not self.bounded:
            return None
        read, begun = set(wanted.end["files"]), wanted.end.get("part")
        starts = {name: 0 for name in self._names if name not in read}
        if begun is not None:
            starts[begun["file"]] = begun["at"]
        floors = [self._earliest(self._at(name), at) for name, at in starts.items()]
        known = [floor for floor in floors if floor is not None]
        return min(known) if known and len(known) == len(floors) else None

    def _earliest(self, path: str, at: int) -> int | None:
        """The earliest time of the row groups from an offset on."""
        if at == 0 and by_name(Path(path)) is not Format.PARQUET:
            return None
        return earliest_from(self._row_groups(path) or (), at)

    def _row_groups(self, path: str) -> tuple[RowGroup, ...] | None:
        if path not in self._footers:
            needs = self._needs
            groups = row_groups(Path(path), needs.time_column, self._unit, needs.wants)
            self._footers[path] = groups
            largest = max((group.bytes for group in groups or ()), default=0)
            if largest > MOST_ROW_GROUP:
                self._warn(
                    f"{path} has a row group with {largest >> 20} MB in the columns that are read: "
                    f"with at most {MOST_ROW_GROUP >> 20} MB, it takes less memory"
                )
        return self._footers[path]
