"""Commits an epoch: merges its results, writes its record, then publishes what is due.

The order matters: the epoch is committed once its record is written, and only then are its results
published (`runtime.pipeline.checkpoint`).
"""

from __future__ import annotations

import time
from dataclasses import replace

from hamlet.job.epoch import Epoch, EpochCommit
from hamlet.job.epoch_report import add_counts, spans_of
from hamlet.job.job_context import JobContext
from runtime.errors import HamletError
from runtime.pipeline.aggregation import EpochResult
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.epoch_record import Results
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.router import joined_rows
from runtime.pipeline.row_numbers import numbered_in_source, rows_after
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.sinks.sink import PendingResults, ReplayPoint


class EpochCommitter:
    def __init__(self, context: JobContext) -> None:
        self._context = context
        self._waiting_since: float | None = None  #: the first results that are not published yet

    def publish_again(self, committed: Manifest) -> None:
        """At the start: an earlier run may have died before it published its last epoch."""
        if not committed.publishes:
            if committed.outbox:
                self._waiting_since = time.monotonic()
        elif is_unpublished(committed, self._context.checkpoints):
            check_sink(committed, self._context.sink.address)
            self._context.checkpoints.check_owner()
            self._publish(committed)

    def commit(
        self, epoch: Epoch, answers: list[EpochResult], committed: Manifest | None
    ) -> EpochCommit:
        """`committed` is the epoch before. Runs in a thread of its own, one epoch at a time."""
        context, read = self._context, epoch.read
        began = time.perf_counter()
        tables = epoch.bound_workload.tables(
            [each for answer in answers for each in answer.partials]
        )
        rows_before = {} if committed is None else committed.rows_before
        beside = {
            DEAD_LETTER: numbered_in_source(joined_rows(read.dead), read.part, rows_before),
            LATE: numbered_in_source(joined_rows(read.late), read.part, rows_before),
        }
        results = {**tables, **beside}
        before = RunCounts() if committed is None else committed.counts
        manifest = self._manifest(epoch, answers, add_counts(before, read, tables))
        manifest = replace(manifest, rows_before=rows_after(read.part, read.rows, rows_before))
        manifest = self._with_outbox(manifest, committed, results, epoch.final)
        merged = time.perf_counter()
        context.checkpoints.commit(manifest, results)
        written = time.perf_counter()
        if manifest.publishes:
            self._publish(manifest)
        published = time.perf_counter()
        stages = {
            "spark": read.spark_seconds,
            "hand-over": read.route_seconds,
            "compute": max(answer.compute_seconds for answer in answers),
            "checkpoint": max(answer.save_seconds for answer in answers) + written - merged,
            "merge": merged - began,
            "sink": published - written,
        }
        times = (began, merged, written, published)
        spans = spans_of(epoch, answers, [_unix_time(each) for each in times])
        return EpochCommit(manifest, answers, tables, stages, time.time(), spans)

    # ---- results that wait -----------------------------------------------------------------

    def is_due(self, committed: Manifest | None, final: bool = False) -> bool:
        """Whether results of committed epochs wait that should be published now, even if there
        is nothing to read."""
        if committed is None or committed.publishes or not committed.outbox:
            return False
        return self._context.sink.is_due(self._pending(committed.outbox_bytes, final))

    def _pending(self, size: int, final: bool) -> PendingResults:
        since = self._waiting_since
        return PendingResults(size, 0.0 if since is None else time.monotonic() - since, final)

    def _with_outbox(
        self, manifest: Manifest, committed: Manifest | None, results: Results, final: bool
    ) -> Manifest:
        """Adds the results of the epoch to those that wait, and decides whether to publish them.
        The decision is part of the manifest, so that a later run takes it again."""
        outbox: tuple[str, ...] = ()
        size = 0
        if committed is not None and not committed.publishes:
            outbox, size = committed.outbox, committed.outbox_bytes
        rows = [table for table in results.values() if table.num_rows]
        if rows:
            outbox += (self._context.checkpoints.record_name(manifest.epoch),)
            size += sum(table.nbytes for table in rows)
        if outbox and self._waiting_since is None:
            self._waiting_since = time.monotonic()
        due = not outbox or self._context.sink.is_due(self._pending(size, final))
        return replace(manifest, outbox=outbox, outbox_bytes=size, publishes=due)

    def _publish(self, manifest: Manifest) -> None:
        if manifest.outbox:
            results = self._context.checkpoints.results(manifest)
            self._context.sink.publish(manifest.epoch, results, ReplayPoint.of(manifest))
            if manifest.sink:
                self._context.checkpoints.mark_published()
        self._waiting_since = None

    def _manifest(self, epoch: Epoch, answers: list[EpochResult], counts: RunCounts) -> Manifest:
        context, order = self._context, epoch.order
        units = {unit: saved for answer in answers for unit, saved in answer.saved.items()}
        return Manifest(
            epoch=order.epoch,
            job=context.checkpoints.job,
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
            changed=order.change is not None,
            finished=order.last,
            sink=context.sink.address,
            folders=context.sink.folders(query.name for query in epoch.bound_workload.workload),
        )


def is_unpublished(committed: Manifest, checkpoints: CheckpointStore) -> bool:
    """Whether the newest epoch has results that may not have been published yet. What was printed
    is not printed again."""
    due = committed.publishes and committed.outbox and committed.sink
    return bool(due) and not checkpoints.is_published()


def check_sink(committed: Manifest, address: str) -> None:
    """Nobody knows whether the results are in the sink of the earlier run, so they cannot go
    anywhere else: they could be there twice."""
    if committed.sink != address:
        raise HamletError(
            f"the last run ended before it confirmed that the results of epoch {committed.epoch} "
            f"were written with {committed.sink}",
            f"start once with {committed.sink}, stop it, then change the output",
        )


def _unix_time(moment: float) -> float:
    """A time of the performance counter as Unix time."""
    return time.time() - (time.perf_counter() - moment)
