"""Writes dead letters and late events next to the results."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from runtime.closable import Closable
from runtime.io.atomic import AtomicFiles, check_folder
from runtime.io.encode import SUFFIXES, check_format, encode_all, encoder
from runtime.io.growing_table import GrowingTable

LIMIT_BYTES = 8 << 20


class SideWriter(Closable):
    """Writes rows next to the results (`_dead_letter`, `_late`): one file in a folder of that name.

    Without rows there is no file; a file of an earlier run is then deleted.
    """

    def __init__(self, output: Path | str, name: str, format: str = "parquet") -> None:
        self._path = check_folder(Path(output)) / name / f"events{SUFFIXES[check_format(format)]}"
        self._format = format
        self._rows = GrowingTable(LIMIT_BYTES)

    @property
    def rows(self) -> int:
        return self._rows.rows

    def write(self, rows: pa.Table) -> None:
        if rows.num_rows:
            self._rows.add(rows)

    def close(self) -> None:
        files = AtomicFiles()
        try:
            if not self.rows:
                self._remove_old()
                return
            with files.open(self._path) as file:
                encode_all(self._rows.batches(), encoder(self._format, file, self._rows.schema))
            files.publish()
        finally:
            files.discard()
            self.abort()

    def abort(self) -> None:
        self._rows.close()

    def _remove_old(self) -> None:
        with suppress(OSError):
            self._path.unlink()
            self._path.parent.rmdir()
