"""Stores the results of an epoch until they are published, in one file.

The file has names and sizes, then the table of each query or the final files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from runtime.pipeline.blob_store import BlobStore, is_unfinished

_SIZE = 8


class Staging:
    def __init__(self, folder: BlobStore, name: str = "results") -> None:
        self._folder = folder
        self._name = name

    def write(self, epoch: int, tables: Mapping[str, pa.Table]) -> None:
        self.write_files(epoch, {name: packed(table) for name, table in tables.items()})

    def read(self, epoch: int) -> dict[str, pa.Table]:
        """Empty if nothing was staged."""
        files = self.read_files(epoch)
        return {name: unpacked(data) for name, data in files.items()}

    def write_files(self, epoch: int, files: Mapping[str, pa.Buffer]) -> None:
        head = json.dumps({name: data.size for name, data in files.items()}).encode()
        size = len(head).to_bytes(_SIZE, "little")
        self._folder.write(self._at(epoch), size, head, *files.values())

    def read_files(self, epoch: int) -> dict[str, pa.Buffer]:
        try:
            data = self._folder.read(self._at(epoch))
        except FileNotFoundError:
            return {}
        start = _SIZE + int.from_bytes(data[:_SIZE].to_pybytes(), "little")
        found = {}
        for name, size in json.loads(data[_SIZE:start].to_pybytes()).items():
            found[name] = data.slice(start, size)
            start += size
        return found

    def epochs(self) -> list[int]:
        names = [name for name in self._folder.names(self._name) if not is_unfinished(name)]
        return [int(name.rpartition("/")[2].removesuffix(".arrow")) for name in names]

    def drop(self, epoch: int) -> None:
        self._folder.delete(self._at(epoch))

    def _at(self, epoch: int) -> str:
        return f"{self._name}/{epoch:09d}.arrow"


def packed(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def unpacked(data: pa.Buffer) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()
