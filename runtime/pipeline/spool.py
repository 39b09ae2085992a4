"""Keeps batches in memory up to a limit, and in a temporary file beyond it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from runtime.closable import Closable
from runtime.errors import os_failure
from runtime.pipeline.reorder_buffer import Disorder
from runtime.types.columns import times_of

LIMIT_BYTES = 32 * 1024 * 1024
CHUNK_ROWS = 65_536


class BatchStore(Closable):
    """Batches of one schema, returned in the order they were added. Use it in a `with`.

    The file has no name if the system allows it, so a killed process leaves no file behind.
    """

    def __init__(self, limit: int = LIMIT_BYTES, directory: Path | None = None) -> None:
        self.rows = 0
        self._limit = limit
        self._directory = directory
        self._memory: list[pa.RecordBatch] = []
        self._memory_bytes = 0
        self._file: IO[bytes] | None = None
        self._writer: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows == 0:
            return
        self.rows += batch.num_rows
        if self._file is None and self._memory_bytes + batch.nbytes <= self._limit:
            self._memory.append(batch)
            self._memory_bytes += batch.nbytes
        else:
            self._spill(batch)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """All batches, in chunks of at most CHUNK_ROWS rows; one iteration at a time."""
        return rechunked(self._batches(), CHUNK_ROWS)

    def close(self) -> None:
        self._memory.clear()
        if self._file is not None:
            self._file.close()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        yield from self._memory
        if self._file is None:
            return
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._file.seek(0)
        yield from pa.ipc.open_stream(self._file)

    def _spill(self, batch: pa.RecordBatch) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="hamlet-", dir=self._directory)  # noqa: SIM115
                self._writer = pa.ipc.new_stream(self._file, batch.schema)
            elif self._writer is None:
                raise RuntimeError("cannot add to a store that was read")
            self._writer.write_batch(batch)
        except OSError as error:
            raise os_failure(
                "cannot write the temporary file for events",
                error,
                "set TMPDIR to a folder with more space",
            ) from error


class Spool(BatchStore):
    """The events of a bounded input, in order of arrival, with their largest disorder.

    Once it is complete, `ordered(spool, spool.disorder)` yields them in order of time and holds
    only those that a later event can still precede.
    """

    def __init__(self, limit: int = LIMIT_BYTES, directory: Path | None = None) -> None:
        super().__init__(limit, directory)
        self._disorder = Disorder()

    @property
    def disorder(self) -> int:
        return self._disorder.largest

    @property
    def newest(self) -> int | None:
        """The largest time."""
        return self._disorder.newest

    def add(self, batch: pa.RecordBatch) -> None:
        self._disorder.add(times_of(batch))
        super().add(batch)


def rechunked(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Cuts long batches and joins short ones; every chunk but the last has `rows` rows."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        while count + batch.num_rows >= rows:
            waiting.append(batch.slice(0, rows - count))
            batch = batch.slice(rows - count)
            yield _joined(waiting)
            waiting, count = [], 0
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
