"""Adds the first reason why a row is not an event."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import functions as F

from runtime.pipeline.event_contract import Reason
from runtime.pipeline.routing_table import RoutingTable
from runtime.types.columns import plain_type
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import FAULT, TIME
from spark_ingest.pipeline.parsed_rows import ParsedRows


def check(rows: ParsedRows, routing: RoutingTable) -> ParsedRows:
    """FAULT is 0 for events. What the parser found comes first."""
    found = sql.name(FAULT)
    parsed = [(f"{found} <> 0", found)] if FAULT in rows.frame.columns else []
    fault = sql.first_of([*parsed, *_faults(rows, routing)], "0")
    return rows.with_frame(rows.frame.withColumn(FAULT, F.expr(f"CAST({fault} AS INT)")))


def _faults(rows: ParsedRows, routing: RoutingTable) -> Iterator[tuple[str, str]]:
    input_format = routing.input_format
    time, type_ = sql.name(input_format.time_column), sql.name(input_format.type_column)
    invalid = Reason.TIME_OUT_OF_RANGE
    if pt.is_string(plain_type(input_format.columns.field(input_format.time_column).type)):
        invalid = Reason.INVALID_TIME
    yield _missing(rows.stored, input_format.time_column, time), _number(Reason.NO_TIME)
    yield f"{sql.name(TIME)} IS NULL", _number(invalid)
    yield _missing(rows.stored, input_format.type_column, type_), _number(Reason.NO_TYPE)
    for name in sorted(routing.uses):
        if name in rows.stored.names and pt.is_floating(plain_type(rows.stored.field(name).type)):
            value = f"abs({sql.name(name)})"
            yield f"{value} = DOUBLE('Infinity')", str(rows.contract.fault(Reason.INFINITE, name))


def _missing(stored: pa.Schema, column: str, value: str) -> str:
    return f"{value} IS NULL" if column in stored.names else "true"


def _number(reason: Reason) -> str:
    return str(reason.fault())
