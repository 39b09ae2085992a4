"""Writes results to a folder per query, a file per epoch: Parquet, JSON lines or CSV.

A file appears complete or not at all. Readers see it at once, but it reaches the disk a little
later: until then the staged results stay, and are published again after a power failure.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from runtime.errors import HamletError
from runtime.io.atomic import AtomicFiles, check_folder, sync_to_disk
from runtime.io.encode import SUFFIXES, check_format, encode_all, encoder
from runtime.io.file_names import FileNames
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, EpochSink, ReplayPoint
from spark_ingest.sinks.staging import Staging

_PART = re.compile(r"part-(\d{9})\.\w+$")


class WholeSink(EpochSink):
    """Keeps the results of a bounded input by epoch, to be written together at the end."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def stage(
        self, epoch: int, tables: Mapping[str, pa.Table], turn: ReplayPoint | None = None
    ) -> None:
        there = {name: table for name, table in tables.items() if table.num_rows}
        if there:
            self._staging.write(epoch, there)

    def publish(self, epoch: int) -> None:
        """Does nothing: results appear at the end."""

    def recover(self, committed: int) -> None:
        for epoch in self._staging.epochs():
            if epoch > committed:
                self._staging.drop(epoch)


class PartsSink(WholeSink):
    def __init__(
        self, output: Path, format: str, staging: Staging, queries: Iterable[str] = ()
    ) -> None:
        super().__init__(staging)
        self._output = check_folder(output)
        self._format = check_format(format)
        self._names = FileNames()
        for query in queries:  # in the order of the workload, so that names are stable
            self._names[query]
        self._staged: tuple[int, dict[str, pa.Buffer]] = (-1, {})
        self._keeper = ThreadPoolExecutor(1, "parts-kept")
        self._keeping: Future[None] | None = None

    def stage(
        self, epoch: int, tables: Mapping[str, pa.Table], turn: ReplayPoint | None = None
    ) -> None:
        """Stages the final files: publishing only moves them."""
        there = {name: table for name, table in tables.items() if table.num_rows}
        files = {self._name(epoch, name): self._encoded(table) for name, table in there.items()}
        if files:
            self._staging.write_files(epoch, files)
        self._staged = epoch, files

    def publish(self, epoch: int) -> None:
        staged, files = self._staged
        if staged != epoch:  # by an earlier run
            files = self._staging.read_files(epoch)
        if not files:
            return
        for name, data in files.items():
            self._write(self._output / name, data)
        self._kept()
        self._keeping = self._keeper.submit(self._keep, epoch, list(files))

    def _keep(self, epoch: int, names: Iterable[str]) -> None:
        """Drops the staged files once the published ones are on disk."""
        for name in names:
            sync_to_disk(self._output / name)
        self._staging.drop(epoch)

    def _kept(self) -> None:
        """Waits for the sync of the previous epoch, so that a slow disk slows the job."""
        if self._keeping is not None:
            self._keeping.result()
            self._keeping = None

    def close(self) -> None:
        try:
            self._kept()
        finally:
            self._keeper.shutdown()

    def recover(self, committed: int) -> None:
        if committed < 0 and (found := next(self._parts(), None)) is not None:
            raise HamletError(
                f"{self._output} holds results of another run, such as {found.name}",
                "go on with the --checkpoint of that run, or name another --output",
            )
        for begun in self._output.glob("*/.part-*.tmp"):  # left by a killed run
            begun.unlink()
        for part in self._parts():
            if _epoch(part) > committed:
                part.unlink()
        super().recover(committed)
        for epoch in self._staging.epochs():
            self.publish(epoch)

    def _write(self, path: Path, data: pa.Buffer) -> None:
        files = AtomicFiles(durable=False)
        try:
            with files.open(path) as file:
                file.write(data)
            files.publish()
        finally:
            files.discard()

    def _encoded(self, table: pa.Table) -> pa.Buffer:
        file = io.BytesIO()
        encode_all(table.to_batches(), encoder(self._format, file, table.schema))
        return pa.py_buffer(file.getbuffer())

    def _name(self, epoch: int, table: str) -> str:
        return f"{self._folder(table)}/part-{epoch:09d}{SUFFIXES[self._format]}"

    def _folder(self, name: str) -> str:
        if name in (DEAD_LETTER, LATE):
            return name
        return self._names[name] + SUFFIXES[self._format]

    def _parts(self) -> Iterator[Path]:
        found = self._output.glob("*/part-*")
        return iter(sorted(path for path in found if _PART.search(path.name)))


def _epoch(part: Path) -> int:
    found = _PART.search(part.name)
    assert found is not None
    return int(found[1])
