"""Opens an input of events: a file, a folder of files or standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import pyarrow as pa

from runtime.closable import Closable
from runtime.errors import HamletError, InputError, is_environment, os_failure
from runtime.io.bytestream import copy_to_disk, decompressed, open_bytes
from runtime.io.csv_text import CsvReader
from runtime.io.folder import FolderListing, check_name, list_files
from runtime.io.formats import Format, by_content, by_name, parse_format
from runtime.io.ipc import IpcReader
from runtime.io.json_lines import JsonReader
from runtime.io.parquet import ParquetReader
from runtime.io.reader import FileReader, ReadRequest
from runtime.io.schema_merge import MergedColumns, requested_columns
from runtime.pipeline.block import RowBlock
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema
from runtime.types.schema_probe import check_unique_names

STDIN = "-"
_DAMAGE = (OSError, EOFError, zlib.error, pa.ArrowException)


def open_input(
    path: str | Path,
    *,
    format: str | None = None,
    uses: Mapping[str, AttributeKind] | None = None,
    time_column: str = "time",
    type_column: str = "type",
    declared: Schema | None = None,
    stdin: BinaryIO | None = None,
    follow_links: bool = False,
    multiline: bool = False,
) -> InputFiles:
    """Opens a file, a folder or `-`, and reads its columns; `with` closes it.

    `follow_links` follows links in a folder to wherever they lead. `multiline` allows line breaks
    in quoted values of CSV.

    With `uses` (how the workload uses attributes), blocks have only these columns, the time and
    the type. Text is parsed for its use. A column that cannot serve its use is an InputError.
    """
    needs = ReadRequest(time_column, type_column, uses, declared or Schema({}), multiline)
    wish = None if format is None else parse_format(format)
    if str(path) == STDIN:
        return InputFiles([_from_stdin(stdin or sys.stdin.buffer, needs, wish)], needs, "stdin")
    path = Path(path)
    check_name(path)
    if not path.is_dir():
        with _naming(path):
            return InputFiles([_from_file(path, str(path), needs, wish)], needs, str(path))
    listing = list_files(path, wish, follow_links)
    paths = [path / name for name in listing.files]
    readers = [_from_file(file, str(file), needs, wish or by_name(file)) for file in paths]
    return InputFiles(readers, needs, str(path), listing)


def blocks_of(reader: FileReader, target: pa.Schema, single: bool) -> Iterator[RowBlock]:
    """All blocks of a source. A damaged source ends with a dead letter, or with an InputError if it
    is the only one."""
    rows = 0
    try:
        for block in reader.blocks(target):
            rows += block.batch.num_rows + block.dead.num_rows
            yield block
    except (InputError, *_DAMAGE) as error:
        if single:
            raise _unreadable(reader.source, error) from error
        yield reader.broken_block(target, f"damaged after {rows} rows: {reason_of(error)}")


def columns_of(path: Path, needs: ReadRequest, format: Format) -> pa.Schema:
    """The columns of one file. Raises an InputError if they cannot be read."""
    try:
        reader = _from_file(path, str(path), needs, format)
        with closing(reader):
            found = reader.columns()
        check_unique_names(found.names, str(path))
    except _DAMAGE as error:
        raise InputError(reason_of(error)) from error
    return found


def damage_of(path: Path, needs: ReadRequest, format: Format) -> str | None:
    """Why a file cannot be read to its end. Reads it all."""
    try:
        with closing(_from_file(path, str(path), needs, format)) as reader:
            for _ in reader.blocks(requested_columns(reader.columns(), needs)):
                pass
    except (InputError, *_DAMAGE) as error:
        return reason_of(error)
    return None


def open_request(
    path: Path, needs: ReadRequest, format: str | None = None, follow_links: bool = False
) -> InputFiles:
    """As `open_input`, for a `ReadRequest`."""
    return open_input(
        path,
        format=format,
        uses=needs.uses,
        time_column=needs.time_column,
        type_column=needs.type_column,
        declared=needs.declared,
        follow_links=follow_links,
        multiline=needs.multiline,
    )


class InputFiles(Closable):
    """Iterates over blocks, once. `schema` has all columns; blocks only the requested ones."""

    def __init__(
        self,
        readers: list[FileReader],
        needs: ReadRequest,
        source: str,
        listing: FolderListing | None = None,
    ) -> None:
        self.source = source
        self.listing = listing or FolderListing([])
        self.rows = 0
        self.dead: Counter[str] = Counter()
        self._single = listing is None
        self._lost: list[tuple[FileReader, str]] = []
        self._readers = readers
        try:
            self.schema = self._look(needs)
        except BaseException:
            self.close()
            raise
        self._target = requested_columns(self.schema, needs)

    @property
    def skipped(self) -> list[str]:
        """The names of files in a folder that are not data."""
        return self.listing.skipped

    @property
    def warnings(self) -> list[str]:
        return list(self.listing.warnings())

    @property
    def sources(self) -> list[str]:
        return [reader.source for reader in self._readers]

    def __iter__(self) -> Iterator[RowBlock]:
        for reader, reason in self._lost:
            yield self._counted(reader.broken_block(self._target, reason))
        for reader in self._readers:
            for block in blocks_of(reader, self._target, self._single):
                yield self._counted(block)
            reader.close()

    def close(self) -> None:
        for reader in self._readers:
            reader.close()

    def _look(self, needs: ReadRequest) -> pa.Schema:
        columns = MergedColumns(needs)
        good = []
        for reader in self._readers:
            try:
                found = reader.columns()
                check_unique_names(found.names, reader.source)
                if not self._single:
                    reader.check()
            except (InputError, *_DAMAGE) as error:
                reader.close()
                if self._single:
                    raise _unreadable(reader.source, error) from error
                self._lost.append((reader, _why_lost(error)))
                continue
            columns.add(reader, found)
            good.append(reader)
            if not self._single:  # a folder may have more files than can be open
                reader.release()
        if not good:
            raise _nothing_in(self.source, self._lost, self.listing)
        self._readers = good
        return columns.schema()

    def _counted(self, block: RowBlock) -> RowBlock:
        self.rows += block.batch.num_rows + block.dead.num_rows - block.dead["row"].null_count
        self.dead.update(block.dead["reason"].to_pylist())
        return block


def _from_stdin(stream: BinaryIO, needs: ReadRequest, wish: Format | None) -> FileReader:
    try:
        stream, head = decompressed(stream)
    except _DAMAGE as error:
        raise _unreadable("stdin", error) from error
    if not head:
        raise InputError("standard input is empty")
    found = wish or by_content(head)
    if found is Format.PARQUET:
        return ParquetReader("stdin", needs, copy_to_disk(stream))
    if found is Format.ARROW:
        return IpcReader("stdin", needs, stream, head)
    return (JsonReader if found is Format.JSON else CsvReader)("stdin", needs, stream)


def _from_file(path: Path, source: str, needs: ReadRequest, wish: Format | None) -> FileReader:
    found = wish or by_name(path)
    if found is None:
        stream, head = open_bytes(path)
        stream.close()
        found = by_content(head)
    if found is Format.PARQUET:
        return ParquetReader(source, needs, path)
    if found is Format.ARROW:
        return IpcReader(source, needs, path, b"")
    return (JsonReader if found is Format.JSON else CsvReader)(source, needs, path)


class _naming:
    """Adds the path to an OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, _DAMAGE):
            raise _unreadable(str(self._path), error) from error


def _unreadable(source: str, error: BaseException) -> HamletError:
    if isinstance(error, InputError):
        return error
    if isinstance(error, OSError) and is_environment(error):
        return os_failure(f"cannot read {source}", error)
    return InputError(f"cannot read {source}: {reason_of(error)}")


def _why_lost(error: BaseException) -> str:
    damaged = isinstance(error, EOFError | zlib.error | gzip.BadGzipFile)
    return f"damaged: {reason_of(error)}" if damaged else reason_of(error)


def reason_of(error: BaseException) -> str:
    """Why something cannot be read, in one line."""
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    return text.splitlines()[0]


def _nothing_in(
    folder: str, lost: list[tuple[FileReader, str]], listing: FolderListing
) -> InputError:
    if lost:
        reader, reason = lost[0]
        return InputError(f"no file in {folder} can be read; {reader.source}: {reason}")
    if warnings := list(listing.warnings()):
        return InputError(f"there is no data in {folder}", warnings[0])
    hint = "data files end in .parquet, .csv, .json, .jsonl, .ndjson, .arrow, .ipc or .feather"
    also = f" (there is {listing.skipped[0]})" if listing.skipped else ""
    return InputError(f"there is no data in {folder}{also}", hint)
