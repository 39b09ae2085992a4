"""Packs an epoch into one record: its manifest and its results, so that both are written at once.

The record has the sizes of its parts, then the manifest, then a table for each query.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from runtime.pipeline.blob_store import CorruptCheckpoint
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
    sizes, start = _sizes(record, name)
    return Manifest.from_bytes(record[start : start + sizes["manifest"]].to_pybytes(), name)


def unpack_results(record: pa.Buffer, name: str) -> dict[str, pa.Table]:
    sizes, start = _sizes(record, name)
    start += sizes["manifest"]
    found = {}
    for query, size in sizes["results"].items():
        found[query] = pa.ipc.open_stream(record.slice(start, size)).read_all()
        start += size
    return found


def _sizes(record: pa.Buffer, name: str) -> tuple[dict[str, Any], int]:
    """The sizes of the parts, and where the manifest starts."""
    start = _SIZE + int.from_bytes(record[:_SIZE].to_pybytes(), "little")
    try:
        return json.loads(record[_SIZE:start].to_pybytes()), start
    except ValueError as error:
        raise CorruptCheckpoint(f"{name} is not the record of an epoch") from error


def _packed(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
