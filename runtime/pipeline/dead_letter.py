"""Builds dead letters: invalid rows with their source, the reason and their content."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.types.columns import plain

DEAD = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("row", pa.int64()),  # from 0 in its source; null if rows have no numbers
        pa.field("reason", pa.string(), nullable=False),
        pa.field("event", pa.string()),  # null, with the row, for the whole source
    ]
)


def no_dead() -> pa.Table:
    return DEAD.empty_table()


def dead_rows(
    source: str, rows: Sequence[int | None], reasons: Sequence[str], events: Sequence[str | None]
) -> pa.Table:
    columns = [[source] * len(rows), list(rows), list(reasons), list(events)]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, DEAD, strict=True)]
    return pa.Table.from_arrays(arrays, schema=DEAD)


def dead_source(source: str, reason: str) -> pa.Table:
    """The dead letter of a source that cannot be read, or not to its end."""
    return dead_rows(source, [None], [reason], [None])


def sources_lost(letters: pa.Table) -> int:
    """How many of the dead letters are those of whole sources."""
    whole = pc.and_(letters["row"].is_null(), letters["event"].is_null())
    return int(pc.sum(whole).as_py() or 0)


def rows_as_json(rows: pa.RecordBatch | pa.Table) -> list[str]:
    """Each row as a JSON object. Times are ISO 8601 and infinities strings: JSON has neither."""
    names = rows.schema.names
    columns = [_json_values(rows.column(i)) for i in range(len(names))]
    if not columns:
        return ["{}"] * int(rows.num_rows)
    return [
        json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, default=str)
        for values in zip(*columns, strict=True)
    ]


def _json_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    array = plain(column)
    if pt.is_timestamp(array.type):
        return pc.replace_substring(array.cast(pa.string()), " ", "T").to_pylist()  # type: ignore[no-any-return]
    if pt.is_temporal(array.type):
        return [None if v is None else str(v) for v in _scalars(array.cast(pa.string()))]
    return [_json_value(value) for value in _scalars(array)]


def _scalars(array: pa.Array) -> list[Any]:
    try:
        return array.to_pylist()  # type: ignore[no-any-return]
    except ValueError:  # a nested time that Python cannot hold
        return [str(scalar) for scalar in array]


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return value
