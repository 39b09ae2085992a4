"""The rows of a frame that a user made, or that Spark loads from one of its formats.

The session of the frame plans it and runs it, with its own settings. What we do with its rows is
planned by a session of ours in the same Spark, with our settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import _parse_datatype_json_string

from runtime.errors import InputError
from runtime.pipeline.event_contract import EventContract
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import ROW
from spark_ingest.pipeline.parsed_rows import ParsedRows
from spark_ingest.pruning import pruned
from spark_ingest.sql_settings import ROWS_PER_ARROW_BATCH

#: Our expressions mean the same whatever the settings of the user's session are.
SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_PER_ARROW_BATCH),
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.session.timeZone": "UTC",
}
#: The columns of a row, until it is known whether it is an event.
_SOURCE = "__source"
_RAW = (
    f"to_json({sql.name(_SOURCE)}, map('timeZone', 'UTC', 'ignoreNullFields', 'false', "
    "'timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\", "
    "'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\"))"
)
_EPOCH = "TIMESTAMP'1970-01-01 00:00:00Z'"


def our_session(spark: SparkSession) -> SparkSession:
    """A session with our settings in the same Spark."""
    session = spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def frame_schema(frame: DataFrame) -> pa.Schema:
    """The columns of a frame, without those whose types Arrow does not have."""
    names = list(frame._jdf.columns())
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"the frame has more than one column `{twice}`",
            f"rename or drop one, or join by its name: on={twice!r}",
        )
    return pa.schema(list(_fields(frame)))


def _fields(frame: DataFrame) -> Iterator[pa.Field]:
    """Field by field: PySpark does not know all of Spark's types, and then refuses the schema."""
    for field in frame._jdf.schema().fields():
        with suppress(PySparkTypeError, PySparkValueError):
            found = _parse_datatype_json_string(field.dataType().json())
            yield pa.field(field.name(), to_arrow_type(found))


class FrameRows:
    """The rows of a frame in the columns that a workload uses. The frame is planned once, so that
    its partitions stay the same, and what it shuffles is shuffled once."""

    def __init__(self, frame: DataFrame, columns: Iterable[str], session: SparkSession) -> None:
        """`session` is one of ours, in the Spark of the frame."""
        self._frame = frame
        self._session = session
        whole = frame_schema(frame)
        self.stored = pa.schema([whole.field(n) for n in columns if n in whole.names])

    @property
    def execution(self) -> Any:
        """The query execution of Spark that makes them."""
        return self._chosen._jdf.queryExecution()

    @property
    def partitions(self) -> int:
        return int(self._rows.getNumPartitions())

    def parsed(
        self, contract: EventContract, partitions: Sequence[int] | None = None
    ) -> ParsedRows:
        """The rows of some of its partitions. They have no numbers: nobody knows their order."""
        rows = self._rows
        if partitions is not None:
            rows = pruned(self._session.sparkContext, rows, partitions)
        columns = list(map(sql.name, self.stored.names))
        frame = self._as_frame(rows).selectExpr(
            *(_in_micros(each) for each in self.stored),
            sql.named("CAST(NULL AS BIGINT)", ROW),
            sql.named(f"struct({', '.join(columns)})", _SOURCE),
        )
        return ParsedRows(frame, self.stored, contract, _RAW, (_SOURCE,))

    def first_values(self, column: str, most: int) -> pa.Table:
        """Values of a column that are not null, of the first rows that have one."""
        name = sql.name(column)
        frame = self._as_frame(self._rows).select(name).where(f"{name} IS NOT NULL").limit(most)
        return pa.table({column: [row[0] for row in frame.collect()]}, self._only(column))

    def _only(self, column: str) -> pa.Schema:
        return pa.schema([self.stored.field(column)])

    @cached_property
    def _rows(self) -> Any:
        """The rows as an RDD of the JVM."""
        return self.execution.toRdd()

    @cached_property
    def _chosen(self) -> DataFrame:
        """The used columns, by their places: a session may ignore the case of names."""
        places = {name: n for n, name in enumerate(self._frame._jdf.columns())}
        numbered = self._frame.toDF(*(f"c{n}" for n in range(len(places))))
        return numbered.select(*(f"c{places[name]}" for name in self.stored.names))

    def _as_frame(self, rows: Any) -> DataFrame:
        session: Any = self._session._jsparkSession
        schema = self._chosen._jdf.schema()
        frame = DataFrame(session.internalCreateDataFrame(rows, schema, False), self._session)
        return frame.toDF(*self.stored.names)


def _in_micros(column: pa.Field) -> str:
    """Intervals as whole numbers, as they are exported."""
    name = sql.name(column.name)
    return (
        sql.named(f"unix_micros({_EPOCH} + {name})", column.name)
        if pt.is_duration(column.type)
        else name
    )
