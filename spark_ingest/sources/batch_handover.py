"""Hands the micro-batches of a Spark query over to the driver, and holds Spark until each is
committed."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

from pyspark.sql import DataFrame


class BatchNotCommitted(Exception):
    """The job ends before it has committed the batch: Spark repeats the batch in the next run."""


class ExpectedErrors(logging.Filter):
    """Keeps Py4J from logging the error that Spark gets at the end of a job."""

    logger = logging.getLogger("py4j.clientserver")

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], BatchNotCommitted))


@dataclass(frozen=True)
class MicroBatch:
    number: int
    frame: DataFrame
    arrived: float = field(default_factory=time.time)  #: as Unix time


class BatchHandover:
    """There is one batch at a time: Spark plans the next one when it has committed this one, and
    commits it when `offer` returns."""

    def __init__(self, committed: int) -> None:
        """`committed` is the last batch in the job's manifest, or -1."""
        self._committed = committed
        self._waiting: MicroBatch | None = None
        self._closed = False
        self._changed = threading.Condition()

    def offer(self, frame: DataFrame, number: int) -> None:
        """In a thread of Spark: returns when the batch is committed. Spark repeats a batch if the
        last run was killed before Spark committed it; the job may have committed it by then."""
        with self._changed:
            if number > self._committed + 1:
                raise BatchNotCommitted(
                    f"Spark is at batch {number}, but the job has committed {self._committed}"
                )
            if number > self._committed and not self._closed:
                self._waiting = MicroBatch(number, frame)
                self._changed.wait_for(lambda: self._closed or self._committed >= number)
                self._waiting = None
            if number > self._committed:
                raise BatchNotCommitted(f"the job has not committed batch {number}")

    @property
    def committed(self) -> int:
        return self._committed

    def after(self, number: int) -> MicroBatch | None:
        """The batch after this one, if Spark waits with it."""
        with self._changed:
            found = self._waiting
            return found if found is not None and found.number == number + 1 else None

    def commit(self, number: int) -> None:
        """The batch is in the job's manifest, and its results are published."""
        with self._changed:
            self._committed = max(self._committed, number)
            self._changed.notify_all()

    def close(self) -> None:
        """Spark gets an error for a batch that is not committed."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
