"""Drives a job, epoch by epoch, until its input ends or it is told to stop.

While one epoch is finished, aggregators compute the next, and Spark reads the one after that. An
epoch is finished in order: totals are merged, results staged, the manifest is written (now it is
committed), results are published.
Where a process dies, its work is repeated: aggregators answer a repeated epoch without taking it
again, and one that was restarted begins from the last committed epoch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import ray
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from actors.actor_pool import ActorPool, cause, is_crash, is_loss
from actors.aggregator import AggregatorSetup
from hamlet.job.epoch import Epoch, Finished
from hamlet.job.epoch_reader import Read, Reader, nothing
from hamlet.job.epoch_report import Watcher, counted, spans_of, told_of
from hamlet.job.metrics_recorder import Record
from hamlet.job.workload_changes import Changes
from runtime.errors import Failure
from runtime.optimizer.optimizer import Running
from runtime.pipeline.aggregation import Answer, Change, Order
from runtime.pipeline.bound_workload import Intake
from runtime.pipeline.checkpoint import Checkpoints
from runtime.pipeline.manifest import Counts, Manifest
from runtime.pipeline.router import joined_rows
from runtime.pipeline.shard import Settings
from runtime.pipeline.watermark import Watermark
from runtime.plan.planner import extended
from runtime.plan.planner import plan as planned
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import Plan
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, EpochSink, ReplayPoint
from spark_ingest.sources.source import SourceRange, StreamSource

# Epochs that may be on their way behind the reader: one is finished, one computes, one waits.
AHEAD = 3
# How often work is repeated after crashes before the job gives up, as long as nothing moves on.
REPEATS = 10
# Bytes that an epoch reads: few while all is quick, so that results come soon; more with backlog.
LEAST_BYTES, MOST_BYTES = 4 << 20, 64 << 20
QUICK_SECONDS, SLOW_SECONDS = 1.0, 4.0
POLL_SECONDS = 0.02
# Spark waits in silence for what does not answer: after so long the source is asked.
LONG_SECONDS = 5.0
# A job that has published nothing for so long tells how things stand.
QUIET_SECONDS = 2.0
# What is read when the job fails is waited for, so that Spark is not stopped in the middle of it.
LEAVE_SECONDS = 10.0


class GaveUp(Failure):
    """Nothing came of repeating; the logs may tell why."""


class Driver:
    def __init__(
        self,
        source: StreamSource,
        sink: EpochSink,
        crew: ActorPool,
        reader: Reader,
        checkpoints: Checkpoints,
        intake: Intake,
        settings: Settings,
        watcher: Watcher,
        record: Record,
        *,
        shards: int,
        lateness: int,
        given: dict[str, str],
        manifest: Manifest | None = None,
        again: ReplayPoint | None = None,
        change: Change | None = None,
        changes: Changes | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """`intake` has the workload of the manifest, if there is one, and `change` what has come
        and gone since. `again`: the first epoch is out already, and must be the same. `given` are
        the fingerprints of the queries that the user gave, by name."""
        self._source, self._sink = source, sink
        self._crew, self._reader = crew, reader
        self._checkpoints, self._settings = checkpoints, settings
        self._intake = self._first = intake
        self._watcher = watcher
        self.record = record
        self._shards = shards
        self._given = given
        self._again = again
        self._begins_with = change
        self._change: Change | None = None
        self._changes = changes
        self._stopping = stopping
        self._committed = manifest
        self._since = dict(manifest.since) if manifest else {}
        self._planned = manifest.position if manifest else source.first()
        self._next = manifest.epoch + 1 if manifest else 0
        self.counts = manifest.counts.copy() if manifest else Counts()
        if manifest is not None:
            record.resumed(manifest)
        self._watermark = Watermark(
            lateness,
            clocks=manifest.clocks if manifest else None,
            value=manifest.watermark if manifest else None,
        )
        self._policy: Policy | None = None
        self._plan_now = self._first_plan(settings)
        record.planned(intake, self._plan_now)
        self._planned_anew: Plan | None = None
        self._pending: deque[Epoch] = deque()
        self._wanted: SourceRange | None = None
        self._reading: Future[Read] | None = None
        self._limit = LEAST_BYTES
        self._ended = False
        self._repeats = 0
        self._told = time.monotonic()
        self._threads = ThreadPoolExecutor(2 + AHEAD, "epoch")

    # ---- the loop --------------------------------------------------------------------------

    def run(self) -> None:
        """Returns when the input has ended, or after the epochs under way if told to stop."""
        if self._committed is not None and self._committed.finished:
            return
        self._crew.follow(self._intake.routing(self._shards, self._crew.size))
        self._crew.begin(self._begin)
        settings = self._settings
        self._crew.optimize(self._running(), settings.planner)
        self._tell_standing()
        try:
            while not self._done():
                self._step()
        finally:
            self._leave()

    def _leave(self) -> None:
        """After an error others may be at work. Nobody leaves while an epoch is written, nor in
        the middle of a call to Spark, which is about to be stopped, unless that takes long."""
        if self._pending and self._pending[0].finished is not None:
            wait([self._pending[0].finished])
        if self._reading is not None:
            wait([self._reading], LEAVE_SECONDS)
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def finished(self) -> bool:
        """Whether the input has ended; else the job can go on from its checkpoint."""
        return self._committed is not None and self._committed.finished

    @property
    def intake(self) -> Intake:
        return self._intake

    def _step(self) -> None:
        if self._reading is not None and self._reading.done():
            self._take_reading(self._reading)
        if self._pending and self._pending[0].busy.done():
            self._go_on(self._pending[0])
        self._plan()
        if time.monotonic() - self._told > QUIET_SECONDS:
            self._tell_standing()
        self._wait()

    def _done(self) -> bool:
        if self._reading is not None or self._pending:
            return False
        return self._ended or self._stopping()

    def _wait(self) -> None:
        """For whatever comes first: the rows of the next epoch, what becomes of the oldest, or,
        while nothing is read, another look at the source."""
        busy: list[Future[Any]] = [] if self._reading is None else [self._reading]
        if self._pending:
            busy.append(self._pending[0].busy)
        if not busy:
            time.sleep(POLL_SECONDS)
        elif self._may_plan():
            wait(busy, POLL_SECONDS, FIRST_COMPLETED)
        elif not wait(busy, LONG_SECONDS, FIRST_COMPLETED).done and self._reading is not None:
            self._source.check()

    # ---- an epoch begins -------------------------------------------------------------------

    def _may_plan(self) -> bool:
        if self._reading is not None or len(self._pending) >= AHEAD:
            return False
        return not (self._ended or self._stopping())

    def _plan(self) -> None:
        if not self._may_plan():
            return
        if self._again is not None:
            self._plan_again(self._again)
            return
        self._take_changes()
        found = self._source.next(self._planned, self._limit)
        if found is not None:
            self._planned = found.end
            self._read(found)
        elif self._source.ended(self._planned):
            self._ended = True
            self._compute(nothing(self._planned), last=True)
        elif self._change is not None or self._time_goes_on():
            self._compute(nothing(self._planned))

    def _plan_again(self, turn: ReplayPoint) -> None:
        start, self._planned = self._planned, turn.position
        if turn.position != start:
            self._read(self._source.between(start, turn.position))
        else:
            self._ended = turn.last
            self._compute(nothing(turn.position), last=turn.last)

    def _read(self, wanted: SourceRange) -> None:
        """Events behind the watermark are late, but nothing is late in a bounded input."""
        self._wanted = wanted
        bound = None if self._source.bounded else self._watermark.value
        columns = self._intake.columns
        self._reading = self._threads.submit(self._reader.read, wanted, columns, bound)

    def _take_reading(self, reading: Future[Read]) -> None:
        self._reading = None
        try:
            read = reading.result()
        except Exception as error:
            self._outlast(error, _can_be_read_again(error), "spark")
            assert self._wanted is not None
            self._read(self._wanted)
        else:
            self._compute(read)

    def _time_goes_on(self) -> bool:
        """Whether a partition of the source has become idle that held the others back."""
        if self._source.bounded:
            return False
        before = self._watermark.value
        return self._watermark.see({}) != before

    def _compute(self, read: Read, last: bool = False) -> None:
        watermark = self._moved(read)
        policy = self._guided()
        changed, self._change = self._change, None
        plan, self._planned_anew = self._planned_anew, None
        order = Order(
            epoch=self._next,
            watermark=watermark,
            last=last,
            change=changed,
            policy=policy if policy != self._policy else None,
            plan=plan,
            committed=-1 if self._committed is None else self._committed.epoch,
        )
        if order.policy is not None:
            self._policy = order.policy
        self._next += 1
        epoch = Epoch(
            order,
            read,
            self._intake,
            dict(self._since),
            clocks=dict(self._watermark.clocks),
            newest=self._watermark.newest,
            began=time.perf_counter(),
        )
        self._send(epoch)
        self._pending.append(epoch)

    def _guided(self) -> Policy | None:
        """What the optimizer says, if it has said something: a policy, and perhaps another plan.
        One that was made for another workload than the one of now came too late."""
        if self._settings.numeric != "float":
            return None
        guidance = self._crew.guidance()
        if guidance is None:
            return self._policy
        self.record.learned(guidance.model)
        plan, now = guidance.plan, self._plan_now or Plan()
        fits = guidance.workload == self._intake.version
        if plan is not None and fits and plan.version > now.version:
            self._plan_now = self._planned_anew = plan
            self.record.planned(self._intake, plan)
            self._crew.remember(self._running())
        return guidance.policy

    def _running(self) -> Running:
        intake = self._intake
        return Running(intake.workload.queries, self._plan_now or Plan(), intake.version)

    def _first_plan(self, settings: Settings) -> Plan | None:
        if settings.planner is None or settings.numeric != "float":
            return settings.plan
        return planned(self._intake.workload, settings.planner).plan

    def _extended(self, change: Change) -> Plan | None:
        """The plan after a change: those that come are planned for by themselves."""
        found, planner = self._plan_now, self._settings.planner
        if found is None or planner is None:
            return None
        for name in change.removed:
            found = found.without(name)
        queries = self._intake.workload.queries
        found = extended(found, queries, change.added, planner)
        return replace(found, version=found.version + 1)

    def _send(self, epoch: Epoch) -> None:
        calls = self._crew.take(epoch.order, epoch.read.portions)
        epoch.answers = self._threads.submit(ray.get, calls)

    def _moved(self, read: Read) -> int | None:
        """The watermark after an epoch. A bounded input is in order as a whole: only what is
        known of the rest of it moves the watermark."""
        mark = self._watermark
        if self._again is not None:
            turn, self._again = self._again, None
            return mark.move(turn.watermark, turn.clocks)
        if not self._source.bounded:
            return mark.see(read.newest)
        for clock, newest in read.newest.items():
            mark.clocks[clock] = max(newest, mark.clocks.get(clock, newest))
        if read.floor is not None and (mark.value is None or read.floor > mark.value):
            mark.value = read.floor
        return mark.value

    # ---- queries come and go ---------------------------------------------------------------

    def _take_changes(self) -> None:
        if self._begins_with is not None:
            self._adopt(self._begins_with)
            self._begins_with = None
        if self._changes is None or self._change is not None:
            return
        asked = self._changes.next(self._intake)
        if asked is not None:
            self._adopt(asked)
            assert self._change is not None
            self._changes.adopted(self._change, self._next)

    def _adopt(self, change: Change) -> None:
        """Rows are read and routed for the changed workload from the next epoch on, and with
        that epoch the aggregators hear of it. Queries that join count from after every event
        seen so far."""
        newest = self._watermark.newest
        since = None if newest is None else newest + 1
        self._change = replace(change, since=since)
        self._intake = self._intake.changed(change.added, change.removed)
        self.record.running(self._intake)
        plan = self._extended(change)
        if plan is not None:
            self._plan_now = self._planned_anew = plan
            self._crew.changed(self._running())
        self.record.planned(self._intake, self._plan_now)
        for name in change.removed:
            self._since.pop(name, None)
        if since is not None:
            self._since |= {query.name: since for query in change.added}
        self._crew.follow(self._intake.routing(self._shards, self._crew.size))

    # ---- an epoch ends ---------------------------------------------------------------------

    def _go_on(self, epoch: Epoch) -> None:
        """With the oldest epoch: only then is it known what is committed, should a later one have
        to be repeated."""
        if epoch.finished is not None:
            self._take_finished(epoch, epoch.finished.result())
            self._pending.popleft()
            return
        try:
            answers = epoch.answers.result()
        except Exception as error:
            lost = is_loss(error)
            self._outlast(error, is_crash(error) or lost, "rows" if lost else "aggregator")
            self._repeat(lost)
        else:
            epoch.finished = self._threads.submit(self._finish, epoch, answers)

    def _finish(self, epoch: Epoch, answers: list[Answer]) -> Finished:
        """In a thread of its own, one epoch at a time."""
        began = time.perf_counter()
        tables = epoch.intake.tables([each for answer in answers for each in answer.partials])
        manifest = self._manifest(epoch, answers, counted(self.counts, epoch.read, tables))
        merged = time.perf_counter()
        beside = {DEAD_LETTER: joined_rows(epoch.read.dead), LATE: joined_rows(epoch.read.late)}
        self._sink.stage(epoch.order.epoch, {**tables, **beside}, _turn(epoch))
        staged = time.perf_counter()
        self._checkpoints.commit(manifest)
        committed = time.perf_counter()
        self._sink.publish(epoch.order.epoch)
        published = time.perf_counter()
        stages = {
            "spark": epoch.read.spark_seconds,
            "hand-over": epoch.read.route_seconds,
            "compute": max(answer.compute_seconds for answer in answers),
            "checkpoint": max(answer.save_seconds for answer in answers) + committed - staged,
            "merge": merged - began,
            "sink": staged - merged + published - committed,
        }
        times = (began, merged, staged, committed, published)
        spans = spans_of(epoch, answers, [_as_day(each) for each in times])
        return Finished(manifest, answers, tables, stages, time.time(), spans)

    def _take_finished(self, epoch: Epoch, finished: Finished) -> None:
        self._committed = finished.manifest
        self.counts = finished.manifest.counts
        self._repeats = 0
        self._source.committed(finished.manifest.position)
        self._tell(epoch, finished)
        self._pace(epoch, finished.stages)

    def _manifest(self, epoch: Epoch, answers: list[Answer], counts: Counts) -> Manifest:
        order = epoch.order
        units = {unit: saved for answer in answers for unit, saved in answer.saved.items()}
        return Manifest(
            epoch=order.epoch,
            source=self._source.name,
            position=epoch.read.range.end,
            watermark=order.watermark,
            newest=epoch.newest,
            clocks=epoch.clocks,
            workload=epoch.intake.workload,
            since=epoch.since,
            given=self._given,
            reading=epoch.intake.reading,
            settings={"numeric": self._settings.numeric, "ties": self._settings.ties},
            shards=self._shards,
            units={} if order.last else units,
            counts=counts,
            finished=order.last,
        )

    def _tell(self, epoch: Epoch, finished: Finished) -> None:
        backlog = self._source.backlog(self._planned)
        self.record.published(epoch, finished, self._source, self._in_flight() - 1, backlog)
        self._told = time.monotonic()
        told = told_of(epoch, finished, self._source, backlog, self.record.decisions)
        self._watcher.committed(told)

    def _tell_standing(self) -> None:
        self.record.stands(self._in_flight(), self._source.backlog(self._planned))
        self._told = time.monotonic()

    def _in_flight(self) -> int:
        return len(self._pending) + (self._reading is not None)

    def _pace(self, epoch: Epoch, stages: dict[str, float]) -> None:
        """Larger epochs where there is more to read, smaller ones where they take long."""
        slowest = max(stages["spark"] + stages["hand-over"], stages["compute"], stages["sink"])
        if slowest > SLOW_SECONDS:
            self._limit = max(LEAST_BYTES, self._limit // 2)
        elif slowest < QUICK_SECONDS and epoch.read.range.bytes >= self._limit // 2:
            self._limit = min(MOST_BYTES, self._limit * 2)

    # ---- something died --------------------------------------------------------------------

    def _begin(self, owner: int) -> AggregatorSetup:
        routing = self._intake.routing(self._shards, self._crew.size)
        last = self._committed
        intake = self._begun_with()
        return AggregatorSetup(
            settings=replace(self._settings, plan=self._plan_now),
            reading=intake.reading,
            workload=intake.workload,
            since=dict(last.since) if last else {},
            shards=routing.owned(owner),
            folder=self._checkpoints.folder,
            name=f"{owner}-{self._checkpoints.run}",
            taken=last.epoch if last else -1,
            saved=dict(last.units) if last else {},
            watermark=last.watermark if last else None,
        )

    def _begun_with(self) -> Intake:
        """The workload of the last committed epoch: what has changed since is in the orders."""
        last = self._committed
        if last is None:
            return self._first
        return Intake(last.workload, last.reading, self._settings.numeric)

    def _outlast(self, error: Exception, passes: bool, part: str) -> None:
        """Raises what was raised in the first place, unless it passes when work of a part is
        repeated."""
        what = cause(error)
        if not passes:
            raise what
        self._repeats += 1
        if self._repeats > REPEATS:
            raise GaveUp(f"gave up after {REPEATS} repeats: {_said(what)}") from error
        self._watcher.trouble(_said(what))
        self.record.restarted(part)
        self.record.show()
        time.sleep(min(5.0, 0.2 * self._repeats))

    def _repeat(self, lost: bool) -> None:
        """Aggregators that are new begin; then all take what they have not answered, read again
        if it is `lost`."""
        self._crew.begin(self._begin, self._crew.new())
        if lost:
            self._read_again()
        for epoch in self._pending:
            self._send(epoch)

    def _read_again(self) -> None:
        """The same ranges, by the same workload and with the same bound: the same portions."""
        if self._reading is not None:  # it is routed by the newest workload
            wait([self._reading])
        for epoch in self._pending:
            if epoch.read.portions:
                self._crew.follow(epoch.intake.routing(self._shards, self._crew.size))
                epoch.read = self._insist(epoch)
        self._crew.follow(self._intake.routing(self._shards, self._crew.size))

    def _insist(self, epoch: Epoch) -> Read:
        while True:
            try:
                return self._reader.read(epoch.read.range, epoch.intake.columns, epoch.read.bound)
            except Exception as error:
                self._outlast(error, _can_be_read_again(error), "spark")


def _as_day(moment: float) -> float:
    """A time of the performance counter as Unix time."""
    return time.time() - (time.perf_counter() - moment)


def _turn(epoch: Epoch) -> ReplayPoint | None:
    """None where queries came or went with it: those are not known where it is lost."""
    order = epoch.order
    if order.change is not None:
        return None
    return ReplayPoint(epoch.read.range.end, order.watermark, epoch.clocks, order.last)


def _can_be_read_again(error: Exception) -> bool:
    """Whether it was Spark, or what it stands on, and not the rows."""
    here = isinstance(error, Py4JError | PySparkException | OSError)
    return here or is_crash(error) or is_loss(error)


def _said(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)  # py4j itself says only what it called
    lines = str(error if java is None else java.getMessage()).strip().splitlines()
    return lines[0] if lines else type(error).__name__
