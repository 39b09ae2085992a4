"""Kafka's own fields of records, as columns: key, headers, timestamp, topic, partition, offset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from runtime.io.kafka_fields import (
    HEADER,
    KEY,
    OWN,
    PARTITION,
    POSITION,
    TIMESTAMP,
    TOPIC,
    is_kafka_field,
)
from runtime.pipeline.event_contract import Reason
from spark_ingest.kafka.values import VALUE
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import FAULT, ROW
from spark_ingest.pipeline.line_text import is_utf8
from spark_ingest.pipeline.parsed_rows import ParsedRows

_COLUMNS = {
    KEY: "key",
    TIMESTAMP: "timestamp",
    TOPIC: "topic",
    PARTITION: "CAST(partition AS BIGINT)",
    POSITION: "offset",
}


def records(frame: DataFrame, names: Iterable[str]) -> DataFrame:
    """The records of a range, with their numbers and values, and Kafka's own fields of `names`.
    Those that are bytes still are."""
    own = [sql.named(_column(name), name) for name in names if is_kafka_field(name)]
    return frame.selectExpr(f"offset AS {sql.name(ROW)}", f"value AS {sql.name(VALUE)}", *own)


def with_own_fields(rows: ParsedRows) -> ParsedRows:
    """Makes text of keys and headers. What is not UTF-8 is a fault, after those of the value."""
    names = rows.contract.columns.names
    texts = [name for name in names if name == KEY or name.startswith(HEADER)]
    fault = sql.first_of(
        [
            (f"{sql.name(FAULT)} <> 0", sql.name(FAULT)),
            *(
                (_is_not_text(name), str(rows.contract.fault(Reason.NOT_TEXT, name)))
                for name in texts
            ),
        ],
        "0",
    )
    frame = rows.frame
    if texts:
        frame = frame.withColumn(FAULT, F.expr(fault))
        frame = frame.withColumns(
            {name: F.expr(f"CAST({sql.name(name)} AS STRING)") for name in texts}
        )
    own = {name: OWN.get(name, pa.string()) for name in names if is_kafka_field(name)}
    inside = [each for each in rows.stored if not is_kafka_field(each.name)]
    return replace(rows, frame=frame, stored=pa.schema([*inside, *own.items()]))


def _is_not_text(name: str) -> str:
    return f"NOT coalesce({is_utf8(sql.name(name))}, true)"


def _column(name: str) -> str:
    if not name.startswith(HEADER):
        return _COLUMNS[name]
    header = sql.text(name.removeprefix(HEADER))
    # The last one counts, as for Kafka's own clients; null if there is none.
    return f"try_element_at(filter(headers, each -> each.key = {header}), -1).value"
