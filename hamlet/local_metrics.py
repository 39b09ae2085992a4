"""What is recorded of a run in one process: the same facts as of a job on Ray."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from runtime.metrics.collector import Ledger, Passed
from runtime.metrics.snapshot import ActorFacts, Shows
from runtime.optimizer.model_report import ModelFacts
from runtime.pipeline.engine import Engine, Results
from runtime.pipeline.latency import ANY, Arrivals, pane_of, panes_in_order, windows_of
from runtime.plan.decisions import Decisions
from runtime.plan.explain.live import drawings
from runtime.plan.sharing_plan import Plan
from runtime.types.columns import times_of

# An epoch of a run in one process is what is done in so many seconds.
EPOCH_SECONDS = 0.5


class _Closed(NamedTuple):
    """So many windows, and what is known of their latencies."""

    windows: int
    latencies: list[float]


class LocalRecord:
    """Sees events as they are taken and results as they are written."""

    def __init__(
        self,
        job: str,
        engine: Engine,
        model: Callable[[], ModelFacts],
        plan: Callable[[], Plan | None],
        shows: Sequence[Shows],
    ) -> None:
        self._engine = engine
        self._model = model
        self._plan = plan
        self._shows = shows
        self._queries = {query.name: query for query in engine.workload}
        self._ledger = Ledger(job, "local", self._queries)
        self._arrivals = Arrivals(pane_of(engine.workload))
        self._events = self._epoch = 0
        self._newest: int | None = None
        self._computed = 0.0
        self._arrived = time.time()
        self._began = time.perf_counter()
        self._forget()
        self._draw()
        self._show()  # while all is read and put in order, nothing else is to be seen

    def _forget(self) -> None:
        self._results: Counter[str] = Counter()
        self._windows: Counter[str] = Counter()
        self._latencies: dict[str, list[float]] = {}

    def took(self, events: pa.RecordBatch) -> None:
        """Events go into the engine, in order."""
        times = times_of(events)
        self._arrived = time.time()
        self._arrivals.came(panes_in_order(times, self._arrivals.pane), self._arrived)
        self._events += events.num_rows
        self._newest = int(times[-1])

    def wrote(self, results: Results) -> None:
        """Results are out."""
        now = time.time()
        known: dict[tuple[object, ...], _Closed] = {}  # most queries have the same windows
        for name, table in results.items():
            if table.num_rows:
                key = self._windows_key(name, table)
                if key not in known:
                    known[key] = self._closed(name, table, now)
                self._results[name] += table.num_rows
                self._windows[name] += known[key].windows
                self._latencies.setdefault(name, []).extend(known[key].latencies)
        if time.perf_counter() - self._began > EPOCH_SECONDS:
            self._pass()

    def _windows_key(self, name: str, table: pa.Table) -> tuple[object, ...]:
        """The same for results of the same windows, where there is one, as mostly."""
        starts, ends = table["window_start"], table["window_end"]
        first, last = starts[0].as_py(), starts[-1].as_py()
        own = first != last or self._queries[name].window.counted
        return (name if own else "", first, last, ends[-1].as_py())

    def _closed(self, name: str, table: pa.Table, now: float) -> _Closed:
        starts, ends = self._engine.preparer.clock.windows(table)
        if self._queries[name].window.counted:
            return _Closed(len(starts), [now - self._arrived] * len(starts))
        arrived = self._arrivals.of_windows((ANY,), starts, ends)
        return _Closed(len(starts), np.maximum(now - arrived[~np.isnan(arrived)], 0.0).tolist())

    def finish(self) -> None:
        self._pass(finished=True)

    def _pass(self, finished: bool = False) -> None:
        engine, now = self._engine, time.perf_counter()
        seconds, self._began = now - self._began, now
        self._computed += seconds
        held = engine.shard.statistics()
        actor = ActorFacts(
            self._events,
            self._computed,
            held.state_bytes,
            held.partitions,
            held.live_graphlets,
            held.open_windows,
            held.waiting_rows,
        )
        self._ledger.learned(self._model())
        self._ledger.passed(
            Passed(
                epoch=self._epoch,
                rows=engine.preparer.rows,
                events=self._events,
                dead=engine.preparer.dead,
                stages={"compute": seconds},
                results=self._results,
                windows=self._windows,
                latencies=self._latencies,
                decided={"0": engine.take_decided()},
                actors={"0": actor},
                watermark=self._newest,
                newest=self._newest,
                finished=finished,
            )
        )
        self._epoch += 1
        self._forget()
        if self._newest is not None:
            self._arrivals.forget(self._newest - windows_of(self._queries))
        if self._plan() is not self._drawn:
            self._draw()
        self._show()

    def _draw(self) -> None:
        self._drawn = self._plan()
        if self._shows:
            self._ledger.drawn(drawings(self._engine.workload, self._drawn))

    def _show(self) -> None:
        if self._shows:
            facts = self._ledger.facts
            for each in self._shows:
                each.tell(facts)

    @property
    def decisions(self) -> list[Decisions]:
        return self._ledger.decisions
