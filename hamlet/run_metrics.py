"""Records the metrics of a run, on either engine, and passes them to listeners."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from runtime.language.query import Query, Workload
from runtime.metrics.collector import EpochStats, MetricsCollector
from runtime.metrics.snapshot import ActorMetrics, MetricsListener, MetricsSnapshot
from runtime.optimizer.model_report import ModelMetrics
from runtime.pipeline.latency import ArrivalTimes, Ints, longest_window, pane_of
from runtime.pipeline.shard import ShardStatistics
from runtime.plan.decisions import Decisions
from runtime.plan.explain.live import drawings
from runtime.plan.sharing_plan import SharingPlan


class RunMetrics:
    """`engine` is `ray` or `local`; `listeners` are called for every epoch."""

    def __init__(
        self, job: str, engine: str, workload: Workload, listeners: Sequence[MetricsListener]
    ) -> None:
        self._listeners = listeners
        self._collector = MetricsCollector(job, engine, ())
        self._arrivals = ArrivalTimes(0)
        self._computed: dict[str, tuple[int, float]] = {}
        self._queries: dict[str, Query] = {}
        self.set_workload(workload)

    @property
    def snapshot(self) -> MetricsSnapshot:
        return self._collector.snapshot

    @property
    def decisions(self) -> list[Decisions]:
        return self._collector.decisions

    def set_workload(self, workload: Workload) -> None:
        """The workload, at the start and whenever it changes."""
        self._queries = {query.name: query for query in workload}
        self._collector.set_queries(self._queries)
        pane = pane_of(workload)
        if pane != self._arrivals.pane:
            self._arrivals = ArrivalTimes(pane)

    def set_plan(self, workload: Workload, plan: SharingPlan | None) -> None:
        """The plan, at the start and whenever it changes."""
        if self._listeners:
            self._collector.set_drawings(drawings(workload, plan))

    def set_model(self, model: ModelMetrics) -> None:
        """The cost model has been fitted again."""
        self._collector.set_model(model)

    def show(self) -> None:
        if self._listeners:
            snapshot = self.snapshot
            for each in self._listeners:
                each.update(snapshot)

    def record(self, epoch: EpochStats) -> None:
        """The results of an epoch are out."""
        self._collector.record_epoch(epoch)
        if epoch.watermark is not None:
            self._arrivals.drop(epoch.watermark - longest_window(self._queries))

    def actor_metrics(
        self, actor: str, events: int, seconds: float, statistics: ShardStatistics
    ) -> ActorMetrics:
        """What an actor has done so far, with the events and seconds of one more epoch."""
        before = self._computed.get(actor, (0, 0.0))
        total = self._computed[actor] = before[0] + events, before[1] + seconds
        return ActorMetrics(
            *total,
            statistics.state_bytes,
            statistics.partitions,
            statistics.live_graphlets,
            statistics.open_windows,
            statistics.waiting_rows,
        )

    def latencies(
        self,
        query: Query,
        windows: tuple[Ints, Ints],
        types: Collection[str],
        last_arrival: float,
        published: float,
    ) -> list[float]:
        """Seconds from the arrival of the last event of each window, one of `types`, to its
        results. A window of events is full with the last arrival. Windows whose last event came
        before the run was restarted are left out."""
        starts, ends = windows
        if query.window.counted:
            arrived = np.full(len(starts), last_arrival)
        else:
            arrived = self._arrivals.of_windows(types, starts, ends)
        known = arrived[~np.isnan(arrived)]
        found: list[float] = np.maximum(published - known, 0.0).tolist()
        return found
