"""Drives a job, epoch by epoch, until its input ends or it is stopped.

Epochs overlap: while one is committed, aggregators compute the next, and Spark reads the one after
that. Of a bounded input, Spark reads one more while routers take the rows of that. Epochs are
committed in order (`epoch_commit`). After a crash the lost work is repeated (`recovery`): an
aggregator answers a repeated epoch without computing it again, and a restarted one starts from the
last committed epoch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import ray

from actors.actor_pool import is_crash, is_loss
from hamlet.job.active_workload import ActiveWorkload
from hamlet.job.epoch import Epoch, EpochCommit
from hamlet.job.epoch_commit import EpochCommitter
from hamlet.job.epoch_pacing import EpochPacer
from hamlet.job.epoch_reader import EpochRows, empty_read
from hamlet.job.epoch_report import report_of
from hamlet.job.job_context import JobContext, StartPoint
from hamlet.job.metrics_recorder import JobMetrics
from hamlet.job.range_reads import RangeReads
from hamlet.job.recovery import Recovery, can_be_reread
from hamlet.job.workload_changes import WorkloadChanges
from runtime.pipeline.aggregation import EpochCommand
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.manifest import RunCounts
from runtime.pipeline.watermark import Watermark
from spark_ingest.sinks.sink import ReplayPoint
from spark_ingest.sources.source import SourceRange

# Epochs that were read and are not committed: one commits, one computes, one waits.
MOST_PENDING = 3
POLL_SECONDS = 0.02
# Spark waits in silence for a source that does not answer: after this long the source is checked.
CHECK_SOURCE_SECONDS = 5.0
# A job that has published nothing for this long reports that it is idle.
IDLE_SECONDS = 2.0
# If the job fails, a read under way has this long to end, so that Spark is not stopped within it.
LAST_READ_SECONDS = 5.0


class Driver:
    def __init__(
        self,
        context: JobContext,
        start: StartPoint,
        changes: WorkloadChanges | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """`changes` asks for queries to come and go; `stopping` says when to stop."""
        manifest = start.manifest
        self._context = context
        self._source, self._pool = context.source, context.pool
        self._stopping = stopping
        self._replay = start.replay
        self.committed = manifest  #: the last committed epoch
        self._next_epoch = manifest.epoch + 1 if manifest else 0
        self._position = manifest.position if manifest else context.source.first()
        self.counts = manifest.counts.copy() if manifest else RunCounts()
        if manifest is not None:
            context.recorder.record_resume(manifest)
        self._watermark = Watermark(
            context.lateness,
            clocks=manifest.clocks if manifest else None,
            value=manifest.watermark if manifest else None,
        )
        self._workload = ActiveWorkload(context, start, changes)
        self._recovery = Recovery(context, self._workload)
        #: Waits for the aggregators that start at the beginning.
        self._starting: Callable[[], None] | None = None
        self._committer = EpochCommitter(context)
        self._pacer = EpochPacer(context.source.bounded)
        # What events are late, and where they go, is known only after the range before, unless the
        # input is bounded and its queries stay.
        self._most_reads = 2 if context.source.bounded and changes is None else 1
        self._reads = RangeReads(context.reader)
        self._pending: deque[Epoch] = deque()
        self._ended = False
        self._reported = time.monotonic()
        self._threads = ThreadPoolExecutor(2 + MOST_PENDING, "epoch")

    @property
    def finished(self) -> bool:
        """Whether the input has ended; if not, the job can resume from its checkpoint."""
        return self.committed is not None and self.committed.finished

    @property
    def bound_workload(self) -> BoundWorkload:
        return self._workload.bound_workload

    @property
    def recorder(self) -> JobMetrics:
        return self._context.recorder

    # ---- the loop --------------------------------------------------------------------------

    def run(self) -> None:
        """Returns when the input has ended, or after the pending epochs if it is stopped."""
        if self.committed is not None:
            self._committer.publish_again(self.committed)
        if self.finished:
            return
        self._pool.set_routing(self._context.routing(self.bound_workload))
        # They load kernels and state while Spark reads the first range.
        self._starting = self._recovery.begin_aggregators(self.committed)
        self._pool.start_optimizer(self._workload.snapshot(), self._context.settings.planner)
        self._report_idle()
        try:
            while not self._is_done():
                self._step()
        finally:
            self._shut_down()

    def _step(self) -> None:
        self._context.check_processes()
        if self._reads and self._reads.oldest.rows.done():
            self._take_read()
        if self._pending and self._pending[0].busy.done():
            self._advance(self._pending[0])
        if self._may_read():
            self._begin_epoch()
        elif self._has_last_results():
            self._compute(empty_read(self._position), final=True)
        if time.monotonic() - self._reported > IDLE_SECONDS:
            self._report_idle()
        self._wait()

    def _is_done(self) -> bool:
        if self._reads or self._pending:
            return False
        return self._ended or (self._stopping() and not self._has_last_results())

    def _has_last_results(self) -> bool:
        """Whether the job is stopped and results still wait: one more epoch publishes them."""
        if self._ended or self._reads or self._pending or not self._stopping():
            return False
        return self._committer.is_due(self.committed, final=True)

    def _wait(self) -> None:
        """Waits for the rows of the next epoch or for the oldest pending epoch, whichever is first.
        While nothing is read, only until it is time to ask the source again."""
        busy: list[Future[Any]] = [self._reads.oldest.rows] if self._reads else []
        if self._pending:
            busy.append(self._pending[0].busy)
        if not busy:
            time.sleep(POLL_SECONDS)
        elif self._may_read():
            wait(busy, POLL_SECONDS, FIRST_COMPLETED)
        elif not wait(busy, CHECK_SOURCE_SECONDS, FIRST_COMPLETED).done and self._reads:
            self._source.check()

    def _shut_down(self) -> None:
        """After an error, threads may still be at work. An epoch that is being committed is waited
        for; so is a read, unless it takes long, since Spark is about to be stopped."""
        if self._pending and self._pending[0].finished is not None:
            wait([self._pending[0].finished])
        self._reads.wait(LAST_READ_SECONDS)
        self._reads.shut_down()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # ---- an epoch begins -------------------------------------------------------------------

    def _may_read(self) -> bool:
        if self._reads and self._replay is not None:
            return False
        if len(self._reads) >= self._most_reads or len(self._pending) >= MOST_PENDING:
            return False
        return not (self._ended or self._stopping())

    def _begin_epoch(self) -> None:
        """Reads the next range. Without one, an epoch without rows is computed if the input has
        ended, if queries changed, or if the watermark moved."""
        if self._replay is not None:
            self._begin_replay(self._replay)
            return
        self._workload.poll_changes(self._watermark.newest, self._next_epoch)
        found = self._source.next(self._position, self._pacer.limit)
        if found is not None:
            self._position = found.end
            self._read(found)
        elif self._reads:
            return  # only they can tell whether the input ends here
        elif self._source.ended(self._position):
            self._ended = True
            self._compute(empty_read(self._position), last=True)
        elif self._workload.has_change or self._idle_partition_moves_time() or self._is_due():
            self._compute(empty_read(self._position))

    def _is_due(self) -> bool:
        return not self._pending and self._committer.is_due(self.committed)

    def _begin_replay(self, replay: ReplayPoint) -> None:
        start, self._position = self._position, replay.position
        if replay.position != start:
            self._read(self._source.between(start, replay.position))
        else:
            self._ended = replay.last
            self._compute(empty_read(replay.position), last=replay.last)

    def _read(self, wanted: SourceRange) -> None:
        """Events behind the watermark are late, but a bounded input has no late events."""
        bound = None if self._source.bounded else self._watermark.value
        self._reads.begin(wanted, bound)

    def _take_read(self) -> None:
        try:
            read = self._reads.oldest.rows.result()
        except Exception as error:
            self._recovery.retry_or_raise(error, can_be_reread(error), "spark")
            self._reads.repeat_oldest()
            return
        self._reads.take_oldest()
        if not self._reads:
            self._position = read.range.end  # later than planned, if a damaged file was skipped
        self._compute(read)

    def _idle_partition_moves_time(self) -> bool:
        """Whether a partition of the source that held the watermark back has become idle."""
        if self._source.bounded:
            return False
        before = self._watermark.value
        return self._watermark.observe({}) != before

    def _compute(self, read: EpochRows, last: bool = False, final: bool = False) -> None:
        """Sends an epoch to the aggregators. With the `last` one the input ends, with the `final`
        one only this run."""
        watermark = self._watermark_after(read)
        update = self._workload.take_update()
        order = EpochCommand(
            epoch=self._next_epoch,
            watermark=watermark,
            last=last,
            change=update.change,
            policy=update.policy,
            plan=update.plan,
            committed=-1 if self.committed is None else self.committed.epoch,
        )
        self._next_epoch += 1
        epoch = Epoch(
            order,
            read,
            self.bound_workload,
            dict(self._workload.since),
            clocks=dict(self._watermark.clocks),
            newest=self._watermark.newest,
            final=last or final,
            began=time.perf_counter(),
        )
        self._send(epoch)
        self._pending.append(epoch)

    def _watermark_after(self, read: EpochRows) -> int | None:
        """A bounded input is sorted as a whole: its watermark moves only as far as no later range
        can have earlier events."""
        mark = self._watermark
        if self._replay is not None:
            replay, self._replay = self._replay, None
            return mark.replay(replay.watermark, replay.clocks)
        if not self._source.bounded:
            return mark.observe(read.newest)
        for clock, newest in read.newest.items():
            mark.clocks[clock] = max(newest, mark.clocks.get(clock, newest))
        if read.floor is not None and (mark.value is None or read.floor > mark.value):
            mark.value = read.floor
        return mark.value

    def _send(self, epoch: Epoch) -> None:
        if self._starting is not None:
            wait_for_start, self._starting = self._starting, None
            wait_for_start()
        calls = self._pool.compute_epoch(epoch.order, epoch.read.portions)
        epoch.answers = self._threads.submit(ray.get, calls)

    # ---- an epoch ends ---------------------------------------------------------------------

    def _advance(self, epoch: Epoch) -> None:
        """Commits the oldest epoch once it is computed, or drops it once it is committed. Failures
        of later epochs wait for their turn: only then is the last committed epoch known."""
        if epoch.finished is not None:
            self._take_committed(epoch, epoch.finished.result())
            self._pending.popleft()
            return
        try:
            answers = epoch.answers.result()
        except Exception as error:
            lost = is_loss(error)
            self._recovery.retry_or_raise(error, is_crash(error) or lost, "rows" if lost else None)
            self._repeat(lost)
        else:
            commit = self._committer.commit
            epoch.finished = self._threads.submit(commit, epoch, answers, self.committed)

    def _repeat(self, lost: bool) -> None:
        """Starts new aggregators and sends all pending epochs again, with rows read again if they
        are `lost`."""
        self._recovery.start_aggregators(self.committed, self._pool.uninitialized())
        if lost:
            self._reads.wait()  # their rows are routed by the newest workload
            self._recovery.reread_all(self._pending)
        for epoch in self._pending:
            self._send(epoch)

    def _take_committed(self, epoch: Epoch, finished: EpochCommit) -> None:
        self.committed = finished.manifest
        self.counts = finished.manifest.counts
        self._recovery.reset()
        self._workload.committed(finished.manifest.epoch)
        self._source.committed(finished.manifest.position)
        self._report(epoch, finished)
        self._pacer.adjust(epoch.read.range.bytes, finished.stages)

    # ---- reports ---------------------------------------------------------------------------

    def _report(self, epoch: Epoch, finished: EpochCommit) -> None:
        source, recorder = self._source, self.recorder
        backlog = source.backlog(self._position)
        recorder.published(epoch, finished, source, self._in_flight() - 1, backlog)
        self._reported = time.monotonic()
        report = report_of(epoch, finished, source, backlog, recorder.decisions)
        self._context.watcher.committed(report)

    def _report_idle(self) -> None:
        self.recorder.report_idle(self._in_flight(), self._source.backlog(self._position))
        self._reported = time.monotonic()

    def _in_flight(self) -> int:
        return len(self._pending) + len(self._reads)
