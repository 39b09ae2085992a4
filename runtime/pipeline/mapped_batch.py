"""Keeps a batch in a temporary file that is mapped into memory."""

from __future__ import annotations

import mmap
import tempfile

import pyarrow as pa

from runtime.errors import os_failure


class MappedBatch:
    """`batch` reads its values from the file, which has no name and goes with the batch."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        try:
            with tempfile.TemporaryFile(prefix="hamlet-") as file:
                with pa.ipc.new_file(file, batch.schema) as writer:
                    writer.write_batch(batch)
                file.flush()
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise os_failure(
                "cannot write the temporary file for events",
                error,
                "set TMPDIR to a folder with more space",
            ) from error
        self.batch: pa.RecordBatch = pa.ipc.open_file(pa.py_buffer(self._map)).get_batch(0)

    def forget_pages(self) -> None:
        """Drops what was read from this process's memory. It can be read again."""
        self._map.madvise(mmap.MADV_DONTNEED)
