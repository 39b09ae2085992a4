"""Infers the columns and the times of Kafka values that are JSON objects, from the first ones."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pyarrow as pa

from runtime.errors import InputError
from runtime.io.json_lines import JsonReader
from runtime.io.reader import ReadRequest
from runtime.io.schema_merge import MergedColumns
from runtime.types.time_codec import TimeCodec


def json_columns(values: Iterable[bytes | None], needs: ReadRequest, source: str) -> pa.Schema:
    """The columns of JSON values, inferred from the first ones."""
    reader = _reader(values, needs, source)
    columns = MergedColumns(needs)
    try:
        found = reader.columns()
    except InputError as error:
        raise InputError(
            f"the values of {source} are not JSON objects",
            "values in Avro need their schema, in an .avsc file",
        ) from error
    columns.add(reader, found)
    return columns.schema()


def json_times(
    values: Iterable[bytes | None], needs: ReadRequest, source: str, clock: TimeCodec
) -> None:
    """Lets the first valid time decide how times are written."""
    column = needs.time_column
    for block in _reader(values, needs, source).blocks(pa.schema([(column, pa.string())])):
        clock.to_micros(block.batch.column(column))


def _reader(values: Iterable[bytes | None], needs: ReadRequest, source: str) -> JsonReader:
    """Valid JSON has line ends only between tokens, so a space can replace them."""
    lines = [value.replace(b"\n", b" ") for value in values if value is not None]
    return JsonReader(source, needs, io.BytesIO(b"\n".join(lines)))
