"""Records a run in one process as if every half second were an epoch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pyarrow as pa

from hamlet.run_metrics import RunMetrics
from runtime.metrics.collector import EpochStats
from runtime.metrics.snapshot import MetricsListener
from runtime.optimizer.model_report import ModelMetrics
from runtime.pipeline.engine import Engine, Results
from runtime.pipeline.latency import ANY, panes_in_order
from runtime.pipeline.manifest import RunCounts
from runtime.plan.sharing_plan import SharingPlan
from runtime.types.columns import times_of

EPOCH_SECONDS = 0.5


class _ClosedWindows(NamedTuple):
    """A number of windows, and the latencies that are known."""

    windows: int
    latencies: list[float]


class LocalMetrics(RunMetrics):
    """Observes events as they go into the engine, and results as they are written. `counts` are
    those of the rows, which the runner keeps up to date."""

    def __init__(
        self,
        job: str,
        engine: Engine,
        counts: RunCounts,
        model: Callable[[], ModelMetrics],
        plan: Callable[[], SharingPlan | None],
        listeners: Sequence[MetricsListener],
    ) -> None:
        super().__init__(job, "local", engine.workload, listeners)
        self._engine = engine
        self._counts = counts
        self._model = model
        self._plan = plan
        self._events = self._epoch_events = self._epoch = 0
        self._newest: int | None = None
        self._arrived = time.time()
        self._began = time.perf_counter()
        self._start_epoch()
        self._draw()
        self.show()  # nothing else is shown until all rows are read and in order

    def _start_epoch(self) -> None:
        self._epoch_events = 0
        self._results: Counter[str] = Counter()
        self._windows: Counter[str] = Counter()
        self._latencies: dict[str, list[float]] = {}

    def before_events(self, events: pa.RecordBatch) -> None:
        """Events go into the engine, in order."""
        times = times_of(events)
        self._arrived = time.time()
        self._arrivals.add(panes_in_order(times, self._arrivals.pane), self._arrived)
        self._events += events.num_rows
        self._epoch_events += events.num_rows
        self._newest = int(times[-1])

    def after_results(self, results: Results) -> None:
        """Results are out."""
        now = time.time()
        known: dict[tuple[object, ...], _ClosedWindows] = {}  # most queries have the same windows
        for name, table in results.items():
            if table.num_rows:
                key = self._windows_key(name, table)
                if key not in known:
                    known[key] = self._closed_windows(name, table, now)
                self._results[name] += table.num_rows
                self._windows[name] += known[key].windows
                self._latencies.setdefault(name, []).extend(known[key].latencies)
        if time.perf_counter() - self._began > EPOCH_SECONDS:
            self._end_epoch()

    def _windows_key(self, name: str, table: pa.Table) -> tuple[object, ...]:
        """Equal for results of the same windows. Usually there is one window."""
        starts, ends = table["window_start"], table["window_end"]
        first, last = starts[0].as_py(), starts[-1].as_py()
        own = first != last or self._queries[name].window.counted
        return (name if own else "", first, last, ends[-1].as_py())

    def _closed_windows(self, name: str, table: pa.Table, now: float) -> _ClosedWindows:
        windows = self._engine.bound.windows(table)
        found = self.latencies(self._queries[name], windows, (ANY,), self._arrived, now)
        return _ClosedWindows(len(windows[0]), found)

    def finish(self) -> None:
        self._end_epoch(finished=True)

    def _end_epoch(self, finished: bool = False) -> None:
        now, counts = time.perf_counter(), self._counts
        seconds, self._began = now - self._began, now
        statistics = self._engine.shard.statistics()
        self.set_model(self._model())
        self.record(
            EpochStats(
                epoch=self._epoch,
                rows=counts.rows,
                events=self._events,
                invalid_rows=counts.dead,
                stages={"compute": seconds},
                results=self._results,
                windows=self._windows,
                latencies=self._latencies,
                decided={"0": self._engine.take_decisions()},
                actors={"0": self.actor_metrics("0", self._epoch_events, seconds, statistics)},
                watermark=self._newest,
                newest=self._newest,
                finished=finished,
            )
        )
        self._epoch += 1
        self._start_epoch()
        if self._plan() is not self._drawn:
            self._draw()
        self.show()

    def _draw(self) -> None:
        self._drawn = self._plan()
        self.set_plan(self._engine.workload, self._drawn)
