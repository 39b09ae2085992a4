"""What a job counts, and what it reports of each epoch."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from hamlet.job.epoch import Epoch, EpochCommit
from hamlet.job.epoch_reader import EpochRows
from hamlet.job.span import Span
from runtime.pipeline.aggregation import EpochResult
from runtime.pipeline.manifest import RunCounts
from runtime.pipeline.shard import ShardStatistics
from runtime.plan.decisions import Decisions
from spark_ingest.sources.source import StreamSource


@dataclass(frozen=True)
class EpochReport:
    """A committed epoch, as its watcher sees it."""

    epoch: int
    counts: RunCounts
    rows: int
    seconds: float
    watermark: int | None
    newest: int | None
    backlog: int
    backlog_in: str
    open_windows: int
    waiting: int
    state_bytes: int
    saved_bytes: int
    policy: int
    plan: int
    stages: dict[str, float]
    decisions: list[Decisions]
    results: dict[str, pa.Table]


class EpochListener(Protocol):
    def committed(self, report: EpochReport) -> None:
        """An epoch was committed and published."""

    def trouble(self, what: str) -> None:
        """Something failed, and its work is repeated."""


def add_counts(before: RunCounts, read: EpochRows, tables: dict[str, pa.Table]) -> RunCounts:
    """The counts of the job after an epoch that gave these results."""
    counts = before.copy()
    for stats in read.stats:
        counts.add_block(stats)
    counts.late += sum(table.num_rows for table in read.late)
    for table in read.dead:
        counts.add_dead(table)
    counts.add_results(tables)
    return counts


def spans_of(epoch: Epoch, answers: list[EpochResult], times: list[float]) -> tuple[Span, ...]:
    """The stages of an epoch, for a trace. `times` are when the merge of its results began and
    ended, and when they were committed and published."""
    read, (began, merged, committed, published) = epoch.read, times
    return (
        Span("spark", read.began, read.began + read.spark_seconds, {"rows": read.rows}),
        Span("hand-over", read.route_began, read.route_began + read.route_seconds),
        *(
            Span(
                "compute",
                answer.began,
                answer.began + answer.compute_seconds,
                {"actor": str(number), "events": answer.events},
            )
            for number, answer in enumerate(answers)
        ),
        Span("merge", began, merged),
        Span("checkpoint", merged, committed),
        Span("publish", committed, published),
    )


def report_of(
    epoch: Epoch,
    finished: EpochCommit,
    source: StreamSource,
    backlog: int,
    decisions: list[Decisions],
) -> EpochReport:
    """The report of a committed epoch. `decisions` are those of the job so far."""
    answers = finished.answers
    held = ShardStatistics.total(answer.statistics for answer in answers)
    return EpochReport(
        epoch=epoch.order.epoch,
        counts=finished.manifest.counts,
        rows=epoch.read.rows,
        seconds=time.perf_counter() - epoch.began,
        watermark=epoch.order.watermark,
        newest=epoch.newest,
        backlog=backlog,
        backlog_in=source.counts_in,
        open_windows=held.open_windows,
        waiting=held.waiting_rows,
        state_bytes=held.state_bytes,
        saved_bytes=sum(answer.saved_bytes for answer in answers),
        policy=max(answer.policy for answer in answers),
        plan=held.plan_version,
        stages=finished.stages,
        decisions=decisions,
        results=finished.tables,
    )
