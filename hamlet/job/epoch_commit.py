"""Commits an epoch: merges its results, stages them, writes the manifest, publishes the results.

The order matters: the epoch is committed once its manifest is written, and only then are its
results published.
"""

from __future__ import annotations

import time

from hamlet.job.epoch import Epoch, EpochCommit
from hamlet.job.epoch_report import counted, spans_of
from hamlet.job.job_context import JobContext
from runtime.pipeline.aggregation import EpochResult
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.router import joined_rows
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, ReplayPoint


class EpochCommitter:
    def __init__(self, context: JobContext) -> None:
        self._context = context

    def commit(self, epoch: Epoch, answers: list[EpochResult], before: RunCounts) -> EpochCommit:
        """`before` are the counts of all earlier epochs. Runs in a thread of its own, one epoch at
        a time."""
        context = self._context
        began = time.perf_counter()
        tables = epoch.bound_workload.tables(
            [each for answer in answers for each in answer.partials]
        )
        manifest = self._manifest(epoch, answers, counted(before, epoch.read, tables))
        merged = time.perf_counter()
        beside = {DEAD_LETTER: joined_rows(epoch.read.dead), LATE: joined_rows(epoch.read.late)}
        context.sink.stage(epoch.order.epoch, {**tables, **beside}, _replay_point(epoch))
        staged = time.perf_counter()
        context.checkpoints.commit(manifest)
        committed = time.perf_counter()
        context.sink.publish(epoch.order.epoch)
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
        spans = spans_of(epoch, answers, [_unix_time(each) for each in times])
        return EpochCommit(manifest, answers, tables, stages, time.time(), spans)

    def _manifest(self, epoch: Epoch, answers: list[EpochResult], counts: RunCounts) -> Manifest:
        context, order = self._context, epoch.order
        units = {unit: saved for answer in answers for unit, saved in answer.saved.items()}
        return Manifest(
            epoch=order.epoch,
            source=context.source.name,
            position=epoch.read.range.end,
            watermark=order.watermark,
            newest=epoch.newest,
            clocks=epoch.clocks,
            workload=epoch.bound_workload.workload,
            since=epoch.since,
            given=dict(context.given),
            input_format=epoch.bound_workload.input_format,
            settings={"numeric": context.settings.numeric, "ties": context.settings.ties},
            shards=context.shards,
            units={} if order.last else units,
            counts=counts,
            finished=order.last,
        )


def _replay_point(epoch: Epoch) -> ReplayPoint | None:
    """None if the epoch changed the workload: it cannot be replayed."""
    order = epoch.order
    if order.change is not None:
        return None
    return ReplayPoint(epoch.read.range.end, order.watermark, epoch.clocks, order.last)


def _unix_time(moment: float) -> float:
    """A time of the performance counter as Unix time."""
    return time.time() - (time.perf_counter() - moment)
