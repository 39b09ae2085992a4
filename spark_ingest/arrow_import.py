"""Makes Spark frames of Arrow tables."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.serializers import ArrowStreamSerializer
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from runtime.types.columns import plain

# A batch is a partition.
BATCH_ROWS = 1 << 20


def spark_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The table as a frame, through a file of Arrow and the JVM: as PySpark does it with pandas,
    whose types lose nulls of whole numbers."""
    given = pa.table({name: _for_spark(table[name]) for name in table.column_names})
    types = [
        StructField(each.name, from_arrow_type(each.type, prefer_timestamp_ntz=True))
        for each in given.schema
    ]
    empty = pa.RecordBatch.from_pylist([], schema=given.schema)
    batches = given.to_batches(max_chunksize=BATCH_ROWS) or [empty]
    jvm: Any = spark.sparkContext._jvm
    utils = jvm.PythonSQLUtils
    rows = spark.sparkContext._serialize_to_jvm(
        batches, ArrowStreamSerializer(), utils.readArrowStreamFromFile, jvm.ArrowIteratorServer
    )
    session: Any = spark._jsparkSession
    return DataFrame(utils.toDataFrame(rows, StructType(types).json(), session), spark)


def _for_spark(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Spark has times in microseconds and no unsigned numbers."""
    kind = column.type
    if pt.is_timestamp(kind):
        return column.cast(pa.timestamp("us", kind.tz and "UTC"), safe=False)
    if pt.is_duration(kind):
        return column.cast(pa.duration("us"), safe=False)
    if pt.is_uint64(kind):
        return column.cast(pa.decimal128(20, 0))
    if pt.is_date64(kind):
        return column.cast(pa.date32())
    if pt.is_dictionary(kind):
        return pa.chunked_array([plain(column)])
    return column
