"""Adds the time of each event, in microseconds, as `runtime.types.time_codec` does it in Arrow."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from runtime.pipeline.routing_table import InputFormat
from runtime.types.columns import plain_type
from runtime.types.text_patterns import WHOLE
from runtime.types.time_codec import DAY, LIMIT, UNITS
from spark_ingest.pipeline import micros, sql
from spark_ingest.pipeline.columns import FINER, TIME
from spark_ingest.pipeline.text_values import is_finer, iso_time, like, text_value


@dataclass(frozen=True)
class _Time:
    """SQL of microseconds (null if there is no valid time), and of whether a time was finer."""

    value: str
    finer: str = "false"


def event_time(rows: DataFrame, input_format: InputFormat, stored: pa.Schema) -> DataFrame:
    """TIME is null where the time is missing or invalid. FINER says that digits were cut off."""
    column = input_format.time_column
    time = _time(sql.name(column), _stored_type(stored, column), input_format)
    inside = f"if({time.value} BETWEEN -{LIMIT}L AND {LIMIT}L, {time.value}, NULL)"
    added = {TIME: F.expr(inside)}
    if time.finer != "false":
        added[FINER] = F.expr(f"coalesce({time.finer}, false)")
    return rows.withColumns(added)


def _stored_type(stored: pa.Schema, column: str) -> pa.DataType:
    return plain_type(stored.field(column).type) if column in stored.names else pa.null()


def _time(column: str, stored: pa.DataType, input_format: InputFormat) -> _Time:
    unit = input_format.time_unit or "s"
    if pt.is_null(stored):
        return _Time("CAST(NULL AS BIGINT)")
    if pt.is_string(stored):
        return _of_text(column, unit, input_format.clock)
    if pt.is_timestamp(stored):
        finer = f"{column} % 1000 <> 0" if stored.unit == "ns" else "false"
        return _Time(micros.of_timestamp(column, stored), finer)
    if pt.is_date(stored):
        return _Time(f"(unix_date({column}) * {DAY}L)")
    return _of_number(column, unit)


def _of_number(column: str, unit: str) -> _Time:
    if unit == "ns":
        return _Time(micros.of_nanoseconds(f"CAST({column} AS BIGINT)"), f"{column} % 1000 <> 0")
    most = LIMIT // UNITS[unit]
    number = f"if({column} BETWEEN -{most}L AND {most}L, CAST({column} AS BIGINT), NULL)"
    return _Time(f"({number} * {UNITS[unit]}L)")


def _of_text(column: str, unit: str, clock: pa.DataType | None) -> _Time:
    """`clock` is the type of the first valid time; unknown as long as there is none."""
    number = _of_number(text_value(column, pa.int64()).value, unit)
    whole = like(column, WHOLE)
    if clock is not None and pt.is_integer(clock):
        return _Time(f"if({whole}, {number.value}, NULL)", f"{whole} AND {number.finer}")
    iso = _Time(f"unix_micros({iso_time(column).value})", is_finer(column))
    if clock is not None:
        return iso
    return _Time(f"if({whole}, {number.value}, {iso.value})", iso.finer)
