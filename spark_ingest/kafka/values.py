"""The formats of Kafka values: JSON objects, or Avro of a known schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from runtime.io.decode import Decoder
from runtime.io.kafka_fields import VALUE, is_kafka_field
from runtime.io.kafka_json import KafkaJson, json_columns
from runtime.io.reader import ReadRequest


class Values(ABC):
    @abstractmethod
    def schema(self, first: Callable[[], Iterable[bytes | None]]) -> pa.Schema:
        """The columns of the values. `first` returns the first values of the topic."""

    @abstractmethod
    def columns(self, names: Sequence[str]) -> list[Column]:
        """The Spark columns of a record."""

    @abstractmethod
    def decoder(self, target: pa.Schema) -> Decoder:
        """The decoder of these columns."""


class JsonValues(Values):
    """Spark passes JSON on as it is, so that files and Kafka have the same parser and rules."""

    def __init__(self, needs: ReadRequest, source: str) -> None:
        self._needs = needs
        self._source = source

    def schema(self, first: Callable[[], Iterable[bytes | None]]) -> pa.Schema:
        return json_columns(() if self._all_declared() else first(), self._needs, self._source)

    def columns(self, names: Sequence[str]) -> list[Column]:
        return [F.col("value").alias(VALUE)]

    def decoder(self, target: pa.Schema) -> Decoder:
        return KafkaJson(target, self._needs)

    def _all_declared(self) -> bool:
        needs = self._needs
        if needs.uses is None:
            return False
        used = (needs.time_column, needs.type_column, *needs.uses)
        return all(
            is_kafka_field(name) or needs.declared.data_type(name) is not None for name in used
        )
