"""Repeats work that was lost when a process died: starts aggregators again and rereads rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from ray.exceptions import RayError

from actors.actor_pool import cause, is_crash, is_loss
from actors.aggregator import AggregatorSetup
from hamlet.job.active_workload import ActiveWorkload
from hamlet.job.epoch import Epoch
from hamlet.job.epoch_reader import EpochRows
from hamlet.job.job_context import JobContext
from runtime.errors import EnvironmentFailure
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.manifest import Manifest

# How often work is repeated before the job gives up, unless an epoch is committed in between.
MOST_RETRIES = 10


class RetriesExhausted(EnvironmentFailure):
    """Work failed again each time it was repeated; the logs may tell why."""


class Recovery:
    def __init__(self, context: JobContext, workload: ActiveWorkload) -> None:
        self._context = context
        self._workload = workload
        self._first_bound_workload = workload.bound_workload
        self._retries = 0

    def reset(self) -> None:
        """An epoch was committed: the job makes progress."""
        self._retries = 0

    def retry_or_raise(self, error: Exception, transient: bool, part: str | None) -> None:
        """Returns if the work is worth repeating, after a pause. Else raises what was raised in the
        first place, or which process died for good. `part` is what failed; None for a process,
        since the watchdog counts those."""
        reason, context = cause(error), self._context
        if isinstance(reason, CorruptCheckpoint):
            context.checkpoints.check_owner()  # a run that has taken over deletes old files
        if not transient:
            raise explain_error(reason)
        self._retries += 1
        context.check_processes()
        time.sleep(min(5.0, 0.2 * self._retries))
        context.check_processes()  # the work may fail a moment before the process is gone
        if self._retries > MOST_RETRIES:
            message = f"gave up after {MOST_RETRIES} repeats: {_first_line(reason)}"
            raise RetriesExhausted(message) from error
        context.watcher.trouble(_first_line(reason))
        if part is not None:
            context.recorder.restarted(part)
        context.recorder.show()

    # ---- aggregators -----------------------------------------------------------------------

    def start_aggregators(
        self, committed: Manifest | None, which: Sequence[int] | None = None
    ) -> None:
        """Starts all aggregators, or only some, from the last committed epoch."""
        self._context.pool.start(partial(self._start_of, committed), which)

    def begin_aggregators(self, committed: Manifest | None) -> Callable[[], None]:
        """Starts all aggregators. The function that it returns waits for them."""
        return self._context.pool.begin_start(partial(self._start_of, committed))

    def _start_of(self, committed: Manifest | None, owner: int) -> AggregatorSetup:
        context = self._context
        bound_workload = self._bound_workload_of(committed)
        return AggregatorSetup(
            settings=replace(context.settings, plan=self._workload.plan),
            input_format=bound_workload.input_format,
            workload=bound_workload.workload,
            since=dict(committed.since) if committed else {},
            shards=context.routing(self._workload.bound_workload).owned(owner),
            files=context.checkpoints.files,
            name=f"{context.checkpoints.owner}-{owner}",
            last_epoch=committed.epoch if committed else -1,
            saved=dict(committed.units) if committed else {},
            watermark=committed.watermark if committed else None,
        )

    def _bound_workload_of(self, committed: Manifest | None) -> BoundWorkload:
        """The workload of the last committed epoch. Later changes are repeated with the epochs
        that they came with."""
        if committed is None:
            return self._first_bound_workload
        return BoundWorkload(
            committed.workload, committed.input_format, self._context.settings.numeric
        )

    # ---- rows ------------------------------------------------------------------------------

    def reread_all(self, epochs: Iterable[Epoch]) -> None:
        """Reads the same ranges for the same workload and with the same bound: this gives the same
        portions."""
        context = self._context
        for epoch in epochs:
            if epoch.read.portions:
                context.pool.set_routing(context.routing(epoch.bound_workload))
                epoch.read = self.reread(epoch)
        context.pool.set_routing(context.routing(self._workload.bound_workload))

    def reread(self, epoch: Epoch) -> EpochRows:
        read = epoch.read
        while True:
            try:
                return self._context.reader.read(read.range, read.bound)
            except Exception as error:
                self.retry_or_raise(error, can_be_reread(error), "spark")


def can_be_reread(error: Exception) -> bool:
    """Whether Spark or the machine failed, and not the rows."""
    spark = isinstance(error, Py4JError | PySparkException | OSError)
    return spark or is_crash(error) or is_loss(error)


def explain_error(error: BaseException) -> BaseException:
    """Errors of Ray and Spark as failures in one line, without the stacks of Java and C++."""
    if isinstance(error, Py4JError | PySparkException):
        return EnvironmentFailure(f"Spark failed: {_first_line(error)}")
    if isinstance(error, RayError):
        return EnvironmentFailure(f"Ray failed: {_first_line(error)}")
    return error


def _first_line(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)  # py4j's own message only names the call
    lines = str(error if java is None else java.getMessage()).strip().splitlines()
    return lines[0] if lines else type(error).__name__
