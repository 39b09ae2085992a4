"""The fields of a Kafka record besides its value, as attributes: key, headers, offset."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

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
