"""Decodes Avro values in Spark.

In its permissive mode `from_avro` returns a record of nulls for a value that it cannot decode,
which looks like a record with nulls, and it ignores extra bytes, as in a record of another schema.
So a mark is appended to each value and to the schema: it is intact only after exactly one value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pt
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType, _parse_datatype_json_string

from runtime.errors import InputError
from runtime.io.kafka_fields import is_kafka_field
from runtime.pipeline.event_contract import EventContract, Reason
from spark_ingest.kafka.values import VALUE, Values
from spark_ingest.pipeline.columns import FAULT
from spark_ingest.pipeline.parsed_rows import ParsedRows

_MARK = bytes.fromhex("b7a1d04e5c93f268")
_HEADER = 5  # a zero and the id of the schema, as Confluent's serializers write them
# A value as it was read. Spark breaks long base64 into lines.
_RAW = (
    f"if({VALUE} IS NULL, NULL, "
    f"to_json(named_struct('base64', translate(base64({VALUE}), '\\r\\n', ''))))"
)


@dataclass(frozen=True)
class Avro:
    """A schema (JSON text), and whether values begin with a Confluent header.

    The schema is that of the writer; no registry is used.
    """

    schema: str
    confluent: bool = False


def read_avsc(path: str | Path, confluent: bool = False) -> Avro:
    try:
        text = Path(path).read_text(encoding="utf-8")
        parsed = json.loads(text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # of UTF-8 or of JSON
        raise InputError(f"{path} is not an Avro schema: {error}") from error
    if not isinstance(parsed, dict) or parsed.get("type") != "record":
        raise InputError(f"{path} is not an Avro schema of a record", "events are records")
    return Avro(text, confluent)


class AvroValues(Values):
    def __init__(self, spark: SparkSession, avro: Avro) -> None:
        self._avro = avro
        self._schema = _arrow(spark, avro)
        inner = json.loads(avro.schema)
        mark = {"type": "fixed", "name": "HamletMark", "size": len(_MARK)}
        fields = [{"name": "value", "type": inner}, {"name": "mark", "type": mark}]
        self._marked = json.dumps({"type": "record", "name": "HamletMarked", "fields": fields})

    def schema(self, first: Callable[[], Iterable[bytes | None]]) -> pa.Schema:
        return self._schema

    def parse(self, records: DataFrame, contract: EventContract) -> ParsedRows:
        value = F.col(VALUE)
        body = F.expr(f"substring({VALUE}, {_HEADER + 1})") if self._avro.confluent else value
        record = from_avro(F.concat(body, F.lit(_MARK)), self._marked, {"mode": "PERMISSIVE"})
        inside = [name for name in contract.columns.names if not is_kafka_field(name)]
        fields = [record["value"][name].alias(name) for name in inside]
        fault = self._fault(value, record["mark"])
        for name in inside:
            if pt.is_string(contract.columns.field(name).type):
                not_text = F.lit(contract.fault(Reason.NOT_TEXT, name))
                fault = fault.when(_is_not_utf8(record["value"][name]), not_text)
        fault = fault.otherwise(0).cast("int").alias(FAULT)
        frame = records.select("*", *fields, fault)
        return ParsedRows(frame, self._schema, contract, _RAW, (VALUE,))

    def _fault(self, value: Column, mark: Column) -> Column:
        fault = F.when(value.isNull(), F.lit(Reason.TOMBSTONE.fault()))
        if self._avro.confluent:
            headed = (F.length(value) >= _HEADER) & (F.substring(value, 1, 1) == F.lit(b"\x00"))
            fault = fault.when(~headed, F.lit(Reason.NO_CONFLUENT_HEADER.fault()))
        fault = fault.when(mark.isNull(), F.lit(Reason.NOT_AVRO.fault()))
        return fault.when(mark != F.lit(_MARK), F.lit(Reason.AFTER_AVRO.fault()))


def _is_not_utf8(text: Column) -> Column:
    """Avro takes the bytes of a text as they are. Decoding replaces those that are not UTF-8."""
    return F.decode(text.cast("binary"), "UTF-8") != text


def _arrow(spark: SparkSession, avro: Avro) -> pa.Schema:
    """The columns as Spark reads them."""
    jvm = spark._jvm
    assert jvm is not None
    try:
        parsed = jvm.org.apache.avro.Schema.Parser().parse(avro.schema)
        converted = jvm.org.apache.spark.sql.avro.SchemaConverters.toSqlType(parsed)
    except Py4JJavaError as error:
        reason = str(error.java_exception.getMessage()).splitlines()[0]
        raise InputError(f"the Avro schema is not right: {reason}") from error
    struct = _parse_datatype_json_string(converted.dataType().json())
    assert isinstance(struct, StructType)
    return to_arrow_schema(struct)
