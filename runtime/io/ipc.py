"""Reads Arrow IPC files and streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from runtime.io.bytestream import copy_to_disk, open_bytes
from runtime.io.formats import ARROW_FILE
from runtime.io.reader import BATCH_ROWS, FileReader, ReadRequest, typed_block
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import rows_as_json
from runtime.pipeline.normalize import Raw


class IpcReader(FileReader):
    def __init__(
        self, source: str, needs: ReadRequest, file: Path | IO[bytes], head: bytes
    ) -> None:
        super().__init__(source, needs)
        self._path = file if isinstance(file, Path) else None
        self._stream: Any = None if isinstance(file, Path) else file
        self._head = head
        self._opened: Any = None

    def columns(self) -> pa.Schema:
        return self._open().schema

    def blocks(self, target: pa.Schema) -> Iterator[RowBlock]:
        first = 0
        for batch in self._batches(target, self._open()):
            if isinstance(batch, RowBlock):
                yield batch
                return
            for part in _parts(batch):
                yield typed_block(part, target, self.source, first, _raw(part))
                first += part.num_rows

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self._opened = None

    def release(self) -> None:
        if self._path is not None:
            self.close()

    def _open(self) -> Any:
        if self._opened is None:
            if self._path is not None:
                self._stream, self._head = open_bytes(self._path)
            if self._head.startswith(ARROW_FILE):
                self._opened = pa.ipc.open_file(self._seekable())
            else:
                self._opened = pa.ipc.open_stream(self._stream)
        return self._opened

    def _seekable(self) -> Any:
        if self._path is None:
            self._stream = copy_to_disk(self._stream)
        else:
            self._stream.close()
            self._stream = pa.OSFile(str(self._path))
        return self._stream

    def _batches(self, target: pa.Schema, opened: Any) -> Iterator[pa.RecordBatch | RowBlock]:
        if isinstance(opened, pa.ipc.RecordBatchFileReader):
            for index in range(opened.num_record_batches):
                yield _checked(opened.get_batch(index))
            return
        whole = 0
        try:
            for batch in opened:
                yield _checked(batch)
                whole += batch.num_rows
        except (OSError, pa.ArrowInvalid) as error:
            # The writer of an incomplete stream was stopped; the rows so far are valid.
            yield self.broken_block(
                target, f"the stream ends unexpectedly after {whole} rows: {error}"
            )


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Validates a batch: Arrow trusts the offsets in a file, and a damaged one makes it read out of
    bounds."""
    batch.validate(full=True)
    return batch


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def _raw(batch: pa.RecordBatch) -> Raw:
    def raw(indices: Sequence[int]) -> list[str]:
        return rows_as_json(batch.take(pa.array(indices, pa.int64())))

    return raw
