"""Loads a frame from a format of Spark, and says what is wrong if Spark cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameReader
from pyspark.sql.streaming import DataStreamReader

from runtime.errors import InputError, suggest
from spark_ingest.jars import AVRO, KAFKA_SOURCE, Jar
from spark_ingest.spark_address import PATH, SCHEMA, SparkAddress

Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)

#: Formats that are not in Spark's own jars.
JARS: Mapping[str, tuple[Jar, ...]] = {"avro": AVRO, "kafka": KAFKA_SOURCE}
_FORMATS = ("avro", "csv", "jdbc", "json", "kafka", "libsvm", "orc", "parquet", "rate", "text")
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
