"""The formats of Kafka values: JSON objects, or Avro of a known schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

import pyarrow as pa
from pyspark.sql import DataFrame

from runtime.io.kafka_fields import is_kafka_field
from runtime.io.kafka_json import json_columns, json_times
from runtime.io.reader import ReadRequest
from runtime.pipeline.event_contract import EventContract
from runtime.types.time_codec import TimeCodec
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import RAW
from spark_ingest.pipeline.parse_json import parse_json, raw_json
from spark_ingest.pipeline.parsed_rows import ParsedRows, text_types

#: The bytes of a value, in the frame of a range.
VALUE = "__value"


class Values(ABC):
    @abstractmethod
    def schema(self, first: Callable[[], Iterable[bytes | None]]) -> pa.Schema:
        """The columns of the values. `first` returns the first values of the topic."""

    @abstractmethod
    def parse(self, records: DataFrame, contract: EventContract) -> ParsedRows:
        """Adds the columns of the contract that are not Kafka's own, and FAULT, to records with
        their VALUE."""

    def decide_clock(  # noqa: B027
        self, clock: TimeCodec, first: Iterable[bytes | None]
    ) -> None:
        """Lets the first valid time of these values decide how times in text are written."""


class JsonValues(Values):
    """Values have the parser and the rules of lines of a file."""

    def __init__(self, needs: ReadRequest, source: str) -> None:
        self._needs = needs
        self._source = source

    def schema(self, first: Callable[[], Iterable[bytes | None]]) -> pa.Schema:
        return json_columns(() if self._all_declared() else first(), self._needs, self._source)

    def parse(self, records: DataFrame, contract: EventContract) -> ParsedRows:
        inside = [name for name in contract.columns.names if not is_kafka_field(name)]
        frame = parse_json(records, contract.restricted_to(inside), VALUE)
        raw = f"coalesce({sql.name(RAW)}, {raw_json(sql.name(VALUE))}, 'null')"
        return ParsedRows(frame, text_types(contract.columns), contract, raw, (VALUE, RAW))

    def decide_clock(self, clock: TimeCodec, first: Iterable[bytes | None]) -> None:
        json_times(first, self._needs, self._source, clock)

    def _all_declared(self) -> bool:
        needs = self._needs
        if needs.uses is None:
            return False
        used = (needs.time_column, needs.type_column, *needs.uses)
        return all(
            is_kafka_field(name) or needs.declared.data_type(name) is not None for name in used
        )
