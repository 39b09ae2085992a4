"""Reads Parquet files, a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from runtime.io.reader import BATCH_ROWS, FileReader, ReadRequest, present_columns, typed_block
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import rows_as_json
from runtime.pipeline.normalize import Raw


class ParquetReader(FileReader):
    def __init__(self, source: str, needs: ReadRequest, file: Path | IO[bytes]) -> None:
        super().__init__(source, needs)
        self._file = file
        self._opened: pq.ParquetFile | None = None

    def columns(self) -> pa.Schema:
        return self._parquet().schema_arrow

    def blocks(self, target: pa.Schema) -> Iterator[RowBlock]:
        file = self._parquet()
        names = present_columns(target, file.schema_arrow.names)
        first = 0
        for group in range(file.num_row_groups):
            whole = _Group(file, group)
            offset = 0
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=names):
                raw = whole.raw_from(offset)
                yield typed_block(batch, target, self.source, first + offset, raw)
                offset += batch.num_rows
            first += offset

    def close(self) -> None:
        self.release()
        if not isinstance(self._file, Path):
            self._file.close()

    def release(self) -> None:
        if self._opened is not None and isinstance(self._file, Path):
            self._opened.close()
            self._opened = None

    def _parquet(self) -> pq.ParquetFile:
        if self._opened is None:
            self._opened = pq.ParquetFile(self._file)
        return self._opened


def rows_of(path: Path, rows: Sequence[int]) -> list[str]:
    """Some rows of a file with all their columns, in the given order."""
    found: dict[int, str] = {}
    first = 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            inside = [row for row in rows if first <= row < first + count]
            if inside:
                raw = _Group(file, group).raw_from(-first)
                found |= zip(inside, raw(inside), strict=True)
            first += count
    return [found[row] for row in rows]


class _Group:
    """A row group with all its columns, read on demand: only invalid rows need it."""

    def __init__(self, file: pq.ParquetFile, group: int) -> None:
        self._file = file
        self._group = group
        self._table: pa.Table | None = None

    def raw_from(self, offset: int) -> Raw:
        def raw(indices: Sequence[int]) -> list[str]:
            if self._table is None:
                self._table = self._file.read_row_group(self._group)
            rows = pa.array([offset + index for index in indices], pa.int64())
            return rows_as_json(self._table.take(rows))

        return raw
