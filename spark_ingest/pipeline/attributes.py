"""Converts the columns of rows to those of events: one type for each, and no NaN."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.types as pt

from runtime.pipeline.routing_table import RoutingTable
from runtime.types.columns import TIME, TYPE, event_type, plain_type
from spark_ingest.pipeline import micros, sql
from spark_ingest.pipeline.columns import FAULT, FINER, ROW
from spark_ingest.pipeline.parsed_rows import ParsedRows

_SQL_TYPES = (
    (pt.is_uint64, "DECIMAL(20, 0)"),
    (pt.is_integer, "BIGINT"),
    (pt.is_floating, "DOUBLE"),
    (pt.is_boolean, "BOOLEAN"),
    (pt.is_binary, "BINARY"),
    (pt.is_date, "DATE"),
    (pt.is_timestamp, "BIGINT"),
    (pt.is_duration, "BIGINT"),
)


def attributes(rows: ParsedRows, routing: RoutingTable) -> ParsedRows:
    """TIME, TYPE and the used attributes, in the types in which they are exported."""
    own = [each for each in (FAULT, FINER, ROW) if each in rows.frame.columns]
    others = map(sql.name, (*own, *rows.kept))
    return rows.with_frame(
        rows.frame.selectExpr(sql.name(TIME), *_events(rows.stored, routing), *others)
    )


def _events(stored: pa.Schema, routing: RoutingTable) -> Iterator[str]:
    columns, type_column = routing.input_format.columns, routing.input_format.type_column
    yield sql.named(_exported(type_column, stored, _stored(type_column, stored)), TYPE)
    for name, use in sorted(routing.uses.items()):
        wanted = event_type(columns.field(name).type, use)
        yield sql.named(_exported(name, stored, wanted), name)


def _stored(name: str, stored: pa.Schema) -> pa.DataType:
    found = plain_type(stored.field(name).type) if name in stored.names else pa.null()
    return pa.string() if pt.is_null(found) else found


def sql_type(data_type: pa.DataType) -> str:
    """The type in which a column of events is exported."""
    return next((name for test, name in _SQL_TYPES if test(data_type)), "STRING")


def _exported(name: str, stored: pa.Schema, wanted: pa.DataType) -> str:
    column = sql.name(name)
    if name not in stored.names or pt.is_null(plain_type(stored.field(name).type)):
        return f"CAST(NULL AS {sql_type(wanted)})"
    given = _unpacked(stored.field(name).type)
    if pt.is_timestamp(wanted):
        return _timestamp(column, given, wanted)
    if pt.is_floating(wanted):
        number = f"CAST({column} AS DOUBLE)"  # the nearest to a decimal, as in `types/columns.py`
        return f"if(isnan({number}), NULL, {number})" if pt.is_floating(given) else number
    if plain_type(given) == wanted or not (pt.is_integer(wanted) or pt.is_string(wanted)):
        return column if sql_type(given) != "BIGINT" else f"CAST({column} AS BIGINT)"
    return f"CAST({column} AS {sql_type(wanted)})"


def _timestamp(column: str, given: pa.DataType, wanted: pa.DataType) -> str:
    """Microseconds, or nanoseconds for an attribute that has them."""
    if not micros.is_nanoseconds(wanted):
        return micros.of_timestamp(column, given)
    if micros.is_nanoseconds(given):
        return column
    return f"({micros.of_timestamp(column, given)} * 1000L)"


def _unpacked(data_type: pa.DataType) -> pa.DataType:
    """The type of the values of an extension or dictionary type."""
    if isinstance(data_type, pa.BaseExtensionType):
        return _unpacked(data_type.storage_type)
    return _unpacked(data_type.value_type) if pt.is_dictionary(data_type) else data_type
