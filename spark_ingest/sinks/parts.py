"""A folder for each query with a file for each epoch: Parquet, JSON lines or CSV. A file appears
whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from runtime.errors import HamletError
from runtime.files.atomic import AtomicFiles, folder
from runtime.files.encode import SUFFIXES, checked, encode_all, encoder
from runtime.files.names import FileNames
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, Sink
from spark_ingest.sinks.staging import Staging

_PART = re.compile(r"part-(\d{9})\.\w+$")
# Most of the time of a small file is that of the disk.
_AT_ONCE = 8


class WholeSink(Sink):
    """The results of a bounded input: kept epoch by epoch, for whoever writes them as a whole in
    the end."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def stage(self, epoch: int, tables: Mapping[str, pa.Table]) -> None:
        there = {name: table for name, table in tables.items() if table.num_rows}
        if there:
            self._staging.write(epoch, there)

    def publish(self, epoch: int) -> None:
        """Nothing is to be seen before the end."""

    def recover(self, committed: int) -> None:
        for epoch in self._staging.epochs():
            if epoch > committed:
                self._staging.drop(epoch)


class PartsSink(WholeSink):
    def __init__(
        self, output: Path, format: str, staging: Staging, queries: Iterable[str] = ()
    ) -> None:
        super().__init__(staging)
        self._output = folder(output)
        self._format = checked(format)
        self._names = FileNames()
        for query in queries:  # in the order of the workload, so that names stay what they are
            self._names[query]

    def publish(self, epoch: int) -> None:
        tables = self._staging.read(epoch)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for done in [pool.submit(self._write, epoch, *each) for each in tables.items()]:
                done.result()
        self._staging.drop(epoch)

    def recover(self, committed: int) -> None:
        if committed < 0 and (found := next(self._parts(), None)) is not None:
            raise HamletError(
                f"{self._output} holds results of another run, such as {found.name}",
                "go on with the --checkpoint of that run, or name another --output",
            )
        for begun in self._output.glob("*/.part-*.tmp"):  # when an earlier run was killed
            begun.unlink()
        for part in self._parts():
            if _epoch(part) > committed:
                part.unlink()
        super().recover(committed)
        for epoch in self._staging.epochs():
            self.publish(epoch)

    def _write(self, epoch: int, name: str, table: pa.Table) -> None:
        suffix = SUFFIXES[self._format]
        path = self._output / self._folder(name) / f"part-{epoch:09d}{suffix}"
        files = AtomicFiles()
        try:
            with files.open(path) as file:
                encode_all(table.to_batches(), encoder(self._format, file, table.schema))
            files.publish()
        finally:
            files.discard()

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
