"""Records the epochs of a job on Ray: metrics, traces, and a log for a report."""

from __future__ import annotations

from hamlet.job.epoch import Epoch, EpochCommit
from hamlet.job.epoch_reader import EpochRows
from hamlet.job.tracing import Tracing
from hamlet.run_metrics import RunMetrics
from runtime.metrics.collector import EpochStats
from runtime.metrics.snapshot import MetricsListener
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.latency import Panes, joined
from runtime.pipeline.manifest import Manifest
from runtime.plan.sharing_plan import SharingPlan
from spark_ingest.sources.source import StreamSource


class JobMetrics(RunMetrics):
    def __init__(
        self,
        job: str,
        bound_workload: BoundWorkload,
        listeners: list[MetricsListener],
        tracing: Tracing | None = None,
    ) -> None:
        super().__init__(job, "ray", bound_workload.workload, listeners)
        self._tracing = tracing

    def record_resume(self, manifest: Manifest) -> None:
        """The job continues from a checkpoint."""
        counts = manifest.counts
        self._collector.resume(
            EpochStats(
                epoch=manifest.epoch,
                rows=counts.rows,
                events=counts.events,
                late=counts.late,
                invalid_rows=counts.dead,
                results=counts.results,
                watermark=manifest.watermark,
                newest=manifest.newest,
            )
        )

    def running(self, bound_workload: BoundWorkload) -> None:
        self.set_workload(bound_workload.workload)

    def record_plan(self, bound_workload: BoundWorkload, plan: SharingPlan | None) -> None:
        self.set_plan(bound_workload.workload, plan)

    def restarted(self, part: str) -> None:
        """A part of the cluster died and its work is repeated."""
        self._collector.count_restart(part)

    def report_idle(self, in_flight: int, backlog: int) -> None:
        """Nothing was published for a while."""
        self._collector.report_idle(in_flight, backlog)
        self._collector.mark_reported()
        self.show()

    def published(
        self,
        epoch: Epoch,
        finished: EpochCommit,
        source: StreamSource,
        in_flight: int,
        backlog: int,
    ) -> None:
        """The results of an epoch are out."""
        self._arrive(epoch.read)
        windows = {n: epoch.bound_workload.windows(table) for n, table in finished.tables.items()}
        counts, answers = finished.manifest.counts, finished.answers
        self.record(
            EpochStats(
                epoch=epoch.order.epoch,
                rows=counts.rows,
                events=counts.events,
                late=counts.late,
                invalid_rows=counts.dead,
                stages=finished.stages,
                results={name: table.num_rows for name, table in finished.tables.items()},
                windows={name: len(starts) for name, (starts, _) in windows.items()},
                latencies={
                    name: self.latencies(
                        query, each, query.types, epoch.read.range.arrived, finished.published
                    )
                    for name, each in windows.items()
                    if (query := self._queries.get(name)) is not None
                },
                decided={str(n): answer.decisions for n, answer in enumerate(answers)},
                actors={
                    str(n): self.actor_metrics(
                        str(n), answer.events, answer.compute_seconds, answer.statistics
                    )
                    for n, answer in enumerate(answers)
                },
                watermark=epoch.order.watermark,
                newest=epoch.newest,
                in_flight=in_flight,
                backlog=backlog,
                backlog_in=source.counts_in,
                saved_bytes=sum(answer.saved_bytes for answer in answers),
                checkpoint_bytes=sum(each.bytes for each in finished.manifest.units.values()),
                finished=finished.manifest.finished,
            )
        )
        if self._tracing is not None:
            self._tracing.published(epoch, finished)
        self._collector.mark_reported()
        self.show()

    def _arrive(self, read: EpochRows) -> None:
        """Files and partitions that are read together came one after the other."""
        by_time: dict[float, list[Panes]] = {}
        for stats, arrived in zip(read.stats, read.arrived, strict=True):
            by_time.setdefault(arrived, []).extend(stats.panes)
        for arrived, panes in by_time.items():
            self._arrivals.add(joined(panes), arrived)
