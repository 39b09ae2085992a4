"""Encodes arrays as bytes: a small Arrow table with a row for each array, no pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.errors import HamletError

Arrays = dict[str, Any]

_KINDS = {"<i8", "<i4", "<f8", "|b1", "|i1", "<u8", "|u1"}
_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("kind", pa.string()),
        ("shape", pa.list_(pa.int64())),
        ("data", pa.large_binary()),
    ]
)


def to_bytes(arrays: Mapping[str, Any]) -> bytes:
    rows = [_row(name, array) for name, array in arrays.items()]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMA) as writer:
        writer.write_table(pa.Table.from_pylist(rows, _SCHEMA))
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def from_bytes(data: bytes) -> Arrays:
    try:
        rows = pa.ipc.open_stream(data).read_all().to_pylist()
    except pa.ArrowInvalid as error:
        raise HamletError(f"the checkpoint is damaged: {error}") from None
    return {row["name"]: _array(row) for row in rows}


def _row(name: str, array: Any) -> dict[str, Any]:
    if isinstance(array, pa.Array):
        table = pa.table({"values": array})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return {"name": name, "kind": "arrow", "shape": [], "data": sink.getvalue().to_pybytes()}
    values = np.ascontiguousarray(array)
    kind = values.dtype.newbyteorder("<").str
    assert kind in _KINDS, f"{name} is {kind}"
    return {"name": name, "kind": kind, "shape": values.shape, "data": values.tobytes()}


def _array(row: dict[str, Any]) -> npt.NDArray[Any] | pa.Array:
    if row["kind"] == "arrow":
        return pa.ipc.open_stream(row["data"]).read_all()["values"].combine_chunks()
    if row["kind"] not in _KINDS:
        raise HamletError(f"the checkpoint is damaged: it has an array of kind {row['kind']}")
    return np.frombuffer(row["data"], row["kind"]).reshape(row["shape"]).copy()
