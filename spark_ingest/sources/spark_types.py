"""Converts the schema of Parquet files to Spark types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import types as spark

from runtime.errors import InputError

_TYPES: dict[pa.DataType, spark.DataType] = {
    pa.bool_(): spark.BooleanType(),
    pa.int8(): spark.ByteType(),
    pa.int16(): spark.ShortType(),
    pa.int32(): spark.IntegerType(),
    pa.int64(): spark.LongType(),
    pa.uint8(): spark.ShortType(),
    pa.uint16(): spark.IntegerType(),
    pa.uint32(): spark.LongType(),
    pa.uint64(): spark.DecimalType(20, 0),
    pa.float32(): spark.FloatType(),
    pa.float64(): spark.DoubleType(),
}
_TESTS: tuple[tuple[Callable[[pa.DataType], bool], spark.DataType], ...] = (
    (pt.is_string, spark.StringType()),
    (pt.is_large_string, spark.StringType()),
    (pt.is_binary, spark.BinaryType()),
    (pt.is_large_binary, spark.BinaryType()),
    (pt.is_fixed_size_binary, spark.BinaryType()),
    (pt.is_date, spark.DateType()),
    (pt.is_duration, spark.LongType()),
)


def spark_schema(schema: pa.Schema, columns: Sequence[str], source: str) -> spark.StructType:
    """The schema of these columns only: others may have types that Spark does not read."""
    chosen = [schema.field(name) for name in columns if name in schema.names]
    found = spark.StructType()
    for field in chosen:
        if not pt.is_null(field.type):
            found = found.add(field.name, _type(field, source))
    return found or _any_column(schema)


def read_types(schema: pa.Schema) -> pa.Schema:
    """The types of columns as they are read: a time without a zone is an instant."""
    return pa.schema([(each.name, _read_type(_stored(each.type))) for each in schema])


def _read_type(kind: pa.DataType) -> pa.DataType:
    local = pt.is_timestamp(kind) and kind.unit != "ns"
    return pa.timestamp(kind.unit, "UTC") if local else kind


def _any_column(schema: pa.Schema) -> spark.StructType:
    """Reads at least one column: without any, the number of rows would be lost."""
    for field in schema:
        with suppress(InputError):
            return spark.StructType().add(field.name, _type(field, ""))
    return spark.StructType()


def _type(field: pa.Field, source: str) -> spark.DataType:
    kind = _stored(field.type)
    if kind in _TYPES:
        return _TYPES[kind]
    for test, found in _TESTS:
        if test(kind):
            return found
    if pt.is_decimal128(kind):
        return spark.DecimalType(kind.precision, kind.scale)
    if pt.is_timestamp(kind):
        if kind.unit == "ns":  # as the session is configured
            return spark.LongType()
        # Also a time without a zone, which is UTC: its microseconds are the same.
        return spark.TimestampType()
    raise InputError(
        f"Spark does not read column `{field.name}` of {source}, which is {field.type}",
        "use --engine local, or write it as another type",
    )


def _stored(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _stored(kind.storage_type)
    return _stored(kind.value_type) if pt.is_dictionary(kind) else kind
