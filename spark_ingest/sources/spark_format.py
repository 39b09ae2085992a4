"""Loads a frame from a format of Spark, and says what is wrong if Spark cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.streaming import DataStreamReader

from runtime.errors import InputError, suggest
from spark_ingest.jars import AVRO, DELTA, KAFKA_SOURCE
from spark_ingest.spark_address import PATH, SCHEMA, SparkAddress
from spark_ingest.spark_needs import SparkNeeds

Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)

_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # So many tasks read the log of a table. Delta's own default is 50.
    "spark.databricks.delta.snapshotPartitions": "4",
}
#: Formats that are not in Spark's own jars.
NEEDS: Mapping[str, SparkNeeds] = {
    "avro": SparkNeeds(AVRO),
    "delta": SparkNeeds(DELTA, _DELTA),
    "kafka": SparkNeeds(KAFKA_SOURCE),
}
#: What limits a micro-batch, and so the memory of an epoch: the options of a format that do, and
#: what we give if the user gives none of them. Without them Spark takes all that is there.
_BATCH_LIMITS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "delta": (("maxFilesPerTrigger", "maxBytesPerTrigger"), "16"),
    "kafka": (("maxOffsetsPerTrigger",), "500000"),
    **dict.fromkeys(
        ("avro", "csv", "json", "orc", "parquet", "text"), (("maxFilesPerTrigger",), "16")
    ),
}
_FORMATS = (
    *("avro", "csv", "delta", "jdbc", "json", "kafka", "libsvm", "orc", "parquet", "rate", "text"),
)
_NOT_FOUND = "DATA_SOURCE_NOT_FOUND"


def load(reader: Reader, address: SparkAddress, secrets: Mapping[str, str]) -> DataFrame:
    """The frame of an address. `secrets` are options that the address must not have."""
    options = {**address.options, **secrets}
    path, schema = options.pop(PATH, None), options.pop(SCHEMA, None)
    with spark_errors(f"Spark cannot load {address}", address.format, secrets):
        given = reader.format(address.format).options(**options)
        if schema is not None:
            given = given.schema(schema)
        return given.load() if path is None else given.load(path)


def at_one_version(spark: SparkSession, address: SparkAddress) -> SparkAddress:
    """The address of a table as it is now. Spark would take its newest version with every plan."""
    named = _names(address) & {"versionasof", "timestampasof"}
    if address.format.lower() != "delta" or named or PATH not in address.options:
        return address
    table = address.options[PATH].replace("`", "``")
    with spark_errors(f"Spark cannot load {address}"):
        newest = spark.sql(f"DESCRIBE HISTORY delta.`{table}` LIMIT 1").select("version").first()
    version = {} if newest is None else {"versionAsOf": str(newest[0])}
    return replace(address, options={**address.options, **version})


def with_batch_limit(address: SparkAddress) -> SparkAddress:
    """The address with a limit for its micro-batches."""
    names, most = _BATCH_LIMITS.get(address.format.lower(), ((), ""))
    if not names or _names(address) & {name.lower() for name in names}:
        return address
    return replace(address, options={**address.options, names[0]: most})


def without_batch_limit(address: SparkAddress) -> SparkAddress:
    """A limit may change from run to run: it is not part of what the input is."""
    names = {name.lower() for name in _BATCH_LIMITS.get(address.format.lower(), ((), ""))[0]}
    kept = {name: value for name, value in address.options.items() if name.lower() not in names}
    return replace(address, options=kept)


def _names(address: SparkAddress) -> set[str]:
    return {name.lower() for name in address.options}


@contextmanager
def spark_errors(
    what: str, format: str | None = None, secrets: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Errors of Spark inside are errors of the user's input, in one line and without secrets."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        said = first_line(error)
        for secret in (secrets or {}).values():
            said = said.replace(secret, "***") if secret else said
        raise InputError(f"{what}: {said}", _hint(error, said, format)) from None


def first_line(error: PySparkException | Py4JJavaError) -> str:
    """What an error of Spark says, without the stack of Java."""
    if isinstance(error, Py4JJavaError):
        java: Any = error.java_exception
        said = str(java.getMessage() or java.getClass().getName())
    else:
        said = str(error)
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__


def _hint(error: Exception, said: str, format: str | None) -> str | None:
    if _NOT_FOUND in said and format is not None:
        near = suggest(format, _FORMATS)
        start = f"did you mean `{near}`? " if near else ""
        return f"{start}formats of Spark are {', '.join(_FORMATS)}"
    if isinstance(error, AnalysisException) and "Unable to infer schema" in said:
        return "name its columns with schema=, such as schema=time TIMESTAMP, type STRING"
    return None
