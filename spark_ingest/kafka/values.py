"""What the values of records are: JSON objects, or Avro of a known schema."""

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
        """The columns of the values. `first` gives the first values of the topic."""

    @abstractmethod
    def columns(self, names: Sequence[str]) -> list[Column]:
        """What Spark makes of a record."""

    @abstractmethod
    def decoder(self, target: pa.Schema) -> Decoder:
        """What makes rows of that."""


class JsonValues(Values):
    """Spark hands JSON on as it is: one parser for files and for Kafka means one set of rules."""

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
