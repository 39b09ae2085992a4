"""Results of an epoch that wait to be published: one file, with names and sizes, then the
table of each query."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from runtime.epochs.folder import Folder, is_begun

_SIZE = 8


class Staging:
    def __init__(self, folder: Folder, name: str = "results") -> None:
        self._folder = folder
        self._name = name

    def write(self, epoch: int, tables: Mapping[str, pa.Table]) -> None:
        parts = [_packed(table) for table in tables.values()]
        sizes = dict(zip(tables, (part.size for part in parts), strict=True))
        head = json.dumps(sizes).encode()
        self._folder.write(self._at(epoch), len(head).to_bytes(_SIZE, "little"), head, *parts)

    def read(self, epoch: int) -> dict[str, pa.Table]:
        """Nothing, if nothing was staged."""
        try:
            data = self._folder.read(self._at(epoch))
        except FileNotFoundError:
            return {}
        start = _SIZE + int.from_bytes(data[:_SIZE].to_pybytes(), "little")
        found = {}
        for name, size in json.loads(data[_SIZE:start].to_pybytes()).items():
            found[name] = pa.ipc.open_stream(data.slice(start, size)).read_all()
            start += size
        return found

    def epochs(self) -> list[int]:
        names = [name for name in self._folder.names(self._name) if not is_begun(name)]
        return [int(name.rpartition("/")[2].removesuffix(".arrow")) for name in names]

    def drop(self, epoch: int) -> None:
        self._folder.delete(self._at(epoch))

    def _at(self, epoch: int) -> str:
        return f"{self._name}/{epoch:09d}.arrow"


def _packed(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
