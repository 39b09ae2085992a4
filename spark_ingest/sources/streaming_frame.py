"""Reads a streaming frame of Spark, one micro-batch per epoch.

Spark's query keeps a position of its own, so it is tied to ours: `foreachBatch` returns only when
the epoch of its batch is committed (`batch_handover`), and a checkpoint of the query that does not
fit the job's is refused (`query_checkpoint`). Nothing is read while an epoch is computed, unlike
from a source that plans its own ranges.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from runtime.errors import EnvironmentFailure, InputError
from runtime.io.reader import ReadRequest
from runtime.pipeline.event_block import Origin
from runtime.types.time_codec import TimeCodec
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.batch_handover import BatchHandover, ExpectedErrors, MicroBatch
from spark_ingest.sources.frame_rows import FrameRows, frame_schema, our_session
from spark_ingest.sources.query_checkpoint import QueryCheckpoint
from spark_ingest.sources.source import Position, SourceFrame, SourceRange, StreamSource
from spark_ingest.sources.spark_format import first_line, spark_errors

# How often a failed query is started again, unless a batch is committed in between.
MOST_RESTARTS = 10
POLL_SECONDS = 0.02
# A query that does not end within this time ends with Spark.
STOP_SECONDS = 10.0
# Rows in which the first valid time is looked for.
FIRST_ROWS = 1_000

#: As Spark's: {"processingTime": "10 seconds"} or {"availableNow": True}.
Trigger = Mapping[str, Any]


class StreamingFrameSource(StreamSource):
    bounded = False

    def __init__(
        self,
        frame: DataFrame,
        needs: ReadRequest,
        checkpoint: Path,
        *,
        name: str,
        at: Position | None = None,
        schema: pa.Schema | None = None,
        unit: str | None = None,
        trigger: Trigger | None = None,
        say: Callable[[str], None] = lambda what: None,
        warn: Callable[[str], None] = lambda what: None,
    ) -> None:
        """`checkpoint` is the folder of the query's own checkpoint. `at` is the position of the
        last committed epoch, `schema` the columns of the run before."""
        if not frame.isStreaming:
            raise InputError(f"{name} is not a streaming frame: it has an end")
        self.name = name
        self.schema = schema or frame_schema(frame)
        self._frame, self._needs, self._unit = frame, needs, unit
        self._checkpoint = checkpoint
        self._trigger = dict(trigger or {})
        self._say, self._warn = say, warn
        self._session = our_session(frame.sparkSession)
        self._batches = BatchHandover(_batch(at))
        self._id: str | None = None if at is None else at["query"]
        self._query: StreamingQuery | None = None
        self._restarts = 0
        self._restart_at = 0.0
        self._expected_errors = ExpectedErrors()
        self._known().check(self._id, self._batches.committed)

    # ---- batches -------------------------------------------------------------------------------

    def first(self) -> Position:
        return {"query": None, "batch": -1}

    def next(self, position: Position, limit: int) -> SourceRange | None:
        """Only Spark knows how much is in a batch."""
        self._keep_running()
        batch = self._batches.after(_batch(position))
        return None if batch is None else self._range(position, batch)

    def between(self, start: Position, end: Position) -> SourceRange:
        """Spark repeats a batch that it has planned and not committed."""
        if end["batch"] not in self._known().planned:
            raise InputError(
                f"batch {end['batch']} must be read once more, since its results are published, "
                f"but Spark's checkpoint {self._checkpoint} does not have its offsets",
                "put back a copy of the whole checkpoint, or start over without it",
            )
        return self._range(start, self._await(_batch(start)))

    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        """The frame of a batch can be read again until the batch is committed."""
        target = pa.schema([self.schema.field(name) for name in pipeline.columns])
        contract = self._needs.contract(target)
        rows = FrameRows(wanted.work, pipeline.columns, self._session)
        frame = pipeline.apply(rows.parsed(contract))
        origins = [Origin(self.name, arrived=wanted.arrived, first=None)] * rows.partitions
        executions = (*self._last_execution(), frame._jdf.queryExecution())
        return SourceFrame(frame, contract, origins, range(rows.partitions), executions=executions)

    def committed(self, position: Position) -> None:
        if _batch(position) > self._batches.committed:
            self._restarts = 0
            self._batches.commit(_batch(position))

    def clock(self) -> pa.DataType | None:
        """The type of times in text, by the first rows of the first batch."""
        column = self._needs.time_column
        if column not in self.schema.names:
            return None  # the workload is about to be refused
        clock = TimeCodec(self.schema.field(column).type, self._unit)
        if clock.decided:
            return None
        self._say(f"waiting for the first rows of {self.name}, which say how times are written")
        batch = self._await(self._batches.committed)
        rows = FrameRows(batch.frame, [column], self._session)
        clock.to_micros(rows.first_values(column, FIRST_ROWS)[column])
        return clock.type if clock.decided else None

    def _range(self, start: Position, batch: MicroBatch) -> SourceRange:
        end = {"query": self._id, "batch": batch.number}
        return SourceRange(start, end, batch.frame, arrived=batch.arrived)

    def _await(self, number: int) -> MicroBatch:
        """The batch after this one."""
        while (batch := self._batches.after(number)) is None:
            self._keep_running()
            time.sleep(POLL_SECONDS)
        return batch

    # ---- the query -----------------------------------------------------------------------------

    @property
    def exhausted(self) -> bool:
        """Whether the query has ended because its trigger takes only what was there."""
        return self._ends and self._query is not None and not self._query.isActive

    @property
    def _ends(self) -> bool:
        return "availableNow" in self._trigger

    def _keep_running(self) -> None:
        if self._query is not None and not self._query.isActive:
            self._ended(self._query)
        if self._query is None and time.monotonic() >= self._restart_at:
            self._query = self._start()

    def _ended(self, query: StreamingQuery) -> None:
        """A query that failed is started again after a pause."""
        failure = query.exception()
        if failure is None and self._ends:
            return
        said = "it was stopped" if failure is None else first_line(failure)
        if self._restarts == MOST_RESTARTS:
            raise EnvironmentFailure(
                f"Spark's query of {self.name} failed again after {MOST_RESTARTS} restarts: {said}"
            )
        self._restarts += 1
        self._warn(f"Spark's query of {self.name} is started again: {said}")
        self._query = None
        self._restart_at = time.monotonic() + min(5.0, 0.2 * self._restarts)

    def _start(self) -> StreamingQuery:
        self._checkpoint.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._known().check(self._id, self._batches.committed)
        writer = self._frame.writeStream.foreachBatch(self._batches.offer)
        writer = writer.option("checkpointLocation", self._checkpoint.absolute().as_uri())
        if self._trigger:
            writer = writer.trigger(**self._trigger)
        with spark_errors(f"Spark cannot follow {self.name}"):
            query = writer.start()
        self._id = query.id
        return query

    def _last_execution(self) -> tuple[Any, ...]:
        """That of the batch that waits: the frame of a batch has only its rows."""
        query = self._query
        if query is None:  # it failed, and is about to be started again
            return ()
        return (query._jsq.streamingQuery().lastExecution(),)

    def _known(self) -> QueryCheckpoint:
        return QueryCheckpoint.read(self._checkpoint)

    def close(self) -> None:
        """First the batch that waits is given up: Spark would wait for it."""
        ExpectedErrors.logger.addFilter(self._expected_errors)
        self._batches.close()
        if self._query is not None:
            stopping = threading.Thread(target=_stop, args=(self._query,), daemon=True)
            stopping.start()
            stopping.join(STOP_SECONDS)
        ExpectedErrors.logger.removeFilter(self._expected_errors)


def _batch(position: Position | None) -> int:
    return -1 if position is None else int(position["batch"])


def _stop(query: StreamingQuery) -> None:
    with suppress(PySparkException, Py4JError, OSError):  # its failure has been reported
        query.stop()
