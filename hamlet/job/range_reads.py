"""Reads ranges in order: while routers take the rows of one range, Spark reads the next."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from hamlet.job.epoch_reader import EpochReader, EpochRows
from spark_ingest.sources.source import SourceRange


@dataclass(frozen=True)
class RangeRead:
    """A read that is under way. Events before `bound` are late."""

    wanted: SourceRange
    bound: int | None
    rows: Future[EpochRows]


class RangeReads:
    """The reads that are under way, the oldest first."""

    def __init__(self, reader: EpochReader) -> None:
        self._reader = reader
        self._reads: deque[RangeRead] = deque()
        # One thread for each step, so that ranges pass them in order.
        self._parking = ThreadPoolExecutor(1, "spark")
        self._routing = ThreadPoolExecutor(1, "hand-over")

    def __len__(self) -> int:
        return len(self._reads)

    @property
    def oldest(self) -> RangeRead:
        return self._reads[0]

    def begin(self, wanted: SourceRange, bound: int | None) -> None:
        self._reads.append(self._begun(wanted, bound))

    def repeat_oldest(self) -> None:
        failed = self._reads.popleft()
        self._reads.appendleft(self._begun(failed.wanted, failed.bound))

    def take_oldest(self) -> None:
        """Its rows were taken. If they end elsewhere than was planned, since a damaged file was
        skipped, the ranges after it are dropped: they begin in that file."""
        taken = self._reads.popleft()
        if taken.rows.result().range.end != taken.wanted.end:
            self.wait()
            self._reads.clear()

    def wait(self, seconds: float | None = None) -> None:
        wait([read.rows for read in self._reads], seconds)

    def shut_down(self) -> None:
        for threads in (self._parking, self._routing):
            threads.shutdown(wait=False, cancel_futures=True)

    def _begun(self, wanted: SourceRange, bound: int | None) -> RangeRead:
        parked = self._parking.submit(self._reader.park, wanted, bound)
        rows = self._routing.submit(lambda: self._reader.route(parked.result()))
        return RangeRead(wanted, bound, rows)
