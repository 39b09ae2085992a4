"""What Kafka says of a record beside its value, as attributes; and how records are handed over."""

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


def is_own(name: str) -> bool:
    return name in OWN or name.startswith(HEADER)


def with_own(values: pa.Schema, named: Iterable[str]) -> pa.Schema:
    """All columns: Kafka's own hide those of the values. Headers are not known beforehand, so
    only the ones that somebody names are there."""
    headers = {name: pa.string() for name in sorted(named) if name.startswith(HEADER)}
    inside = [each for each in values if not is_own(each.name)]
    return pa.schema([*inside, *map(pa.field, OWN, OWN.values()), *headers.items()])


def handed_over(names: Iterable[str]) -> list[str]:
    """Which of Kafka's own fields a block must hold; others follow from where it comes from."""
    return [name for name in names if is_own(name) and name not in (TOPIC, PARTITION, POSITION)]


def own_column(name: str, block: pa.RecordBatch, origin: Origin, faults: RowErrors) -> pa.Array:
    """A field of all records of a block. Text that is none is a fault."""
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
    faults.add(null_rows(text) & ~null_rows(column), f"`{name}` is not UTF-8")
    return text
