"""The fields of a Kafka record besides its value, as attributes: key, headers, offset."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from runtime.io.decode import Origin
from runtime.pipeline.row_errors import RowErrors
from runtime.types.columns import cast_or_null, null_rows, plain

# Columns of a block, beside those of the attributes.
OFFSET, VALUE, FAULT = "__offset", "__value", "__fault"

KEY, TIMESTAMP = "kafka_key", "kafka_timestamp"
TOPIC, PARTITION, POSITION = "kafka_topic", "kafka_partition", "kafka_offset"
HEADER = "header_"

OWN: dict[str, pa.DataType] = {
    KEY: pa.string(),
    TIMESTAMP: pa.timestamp("us", "UTC"),
    TOPIC: pa.string(),
    PARTITION: pa.int64(),
    POSITION: pa.int64(),
}


def is_kafka_field(name: str) -> bool:
    return name in OWN or name.startswith(HEADER)


def with_kafka_fields(values: pa.Schema, named: Iterable[str]) -> pa.Schema:
    """All columns: the fields of Kafka hide those of the values. Headers are unknown in advance,
    so only the ones in `named` are included."""
    headers = {name: pa.string() for name in sorted(named) if name.startswith(HEADER)}
    inside = [each for each in values if not is_kafka_field(each.name)]
    return pa.schema([*inside, *map(pa.field, OWN, OWN.values()), *headers.items()])


def exported_fields(names: Iterable[str]) -> list[str]:
    """The Kafka fields that a block must contain; the others follow from its origin."""
    return [
        name for name in names if is_kafka_field(name) and name not in (TOPIC, PARTITION, POSITION)
    ]


def kafka_column(name: str, block: pa.RecordBatch, origin: Origin, errors: RowErrors) -> pa.Array:
    """A Kafka field of all records of a block. Invalid UTF-8 is an error."""
    topic, _, partition = origin.source.rpartition("/")
    if name == TOPIC:
        return pa.array([topic] * block.num_rows, pa.string())
    if name == PARTITION:
        return pa.array(np.full(block.num_rows, int(partition), np.int64))
    if name == POSITION:
        return plain(block.column(OFFSET))
    column = plain(block.column(name))
    if not pt.is_binary(column.type):
        return column.cast(OWN[name])
    text = cast_or_null(column, pa.string()) if len(column) else column.cast(pa.string())
    errors.add(null_rows(text) & ~null_rows(column), f"`{name}` is not UTF-8")
    return text
