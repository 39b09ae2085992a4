"""Packs an epoch into one record: its manifest and its results, so that both are written at once.

The record has the sizes of its parts, then the manifest, then a table for each query.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from runtime.pipeline.blob_store import parsing
from runtime.pipeline.manifest import Manifest

#: The rows of an epoch by query, and those of dead letters and late events.
Results = Mapping[str, pa.Table]

_SIZE = 8


def pack(manifest: Manifest, results: Results) -> list[bytes | pa.Buffer]:
    body = manifest.to_bytes()
    tables = {name: _packed(table) for name, table in results.items() if table.num_rows}
    sizes = {"manifest": len(body), "results": {n: data.size for n, data in tables.items()}}
    head = json.dumps(sizes, ensure_ascii=False).encode()
    return [len(head).to_bytes(_SIZE, "little"), head, body, *tables.values()]


def unpack_manifest(record: pa.Buffer, name: str) -> Manifest:
    manifest, _ = _parts(record, name)
    return Manifest.from_bytes(manifest.to_pybytes(), name)


def unpack_results(record: pa.Buffer, name: str) -> dict[str, pa.Table]:
    _, results = _parts(record, name)
    with parsing(name, "has tables that are not results"):
        return {query: pa.ipc.open_stream(data).read_all() for query, data in results.items()}


def _parts(record: pa.Buffer, name: str) -> tuple[pa.Buffer, dict[str, pa.Buffer]]:
    """The manifest, and the results by query."""
    with parsing(name, "is not the record of an epoch"):
        at = _SIZE + int.from_bytes(record[:_SIZE].to_pybytes(), "little")
        sizes = json.loads(record[_SIZE:at].to_pybytes())
        parts = []
        for size in (sizes["manifest"], *sizes["results"].values()):
            if type(size) is not int or not 0 <= size <= record.size - at:
                raise ValueError(f"{size!r} is not the size of a part")
            parts.append(record.slice(at, size))
            at += size
        return parts[0], dict(zip(sizes["results"], parts[1:], strict=True))


def _packed(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
