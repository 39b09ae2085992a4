"""What is recorded of a job: facts for the hub, and a log of the run for a report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hamlet.job.epoch import Epoch, Finished
from hamlet.job.epoch_reader import Read
from hamlet.job.tracing import Tracing
from runtime.language.query import Query
from runtime.metrics.collector import Ledger, Passed
from runtime.metrics.snapshot import ActorFacts, Facts, Shows
from runtime.optimizer.model_report import ModelFacts
from runtime.pipeline.aggregation import Answer
from runtime.pipeline.bound_workload import Intake
from runtime.pipeline.latency import Arrivals, Ints, Panes, joined, pane_of, windows_of
from runtime.pipeline.manifest import Manifest
from runtime.plan.decisions import Decisions
from runtime.plan.explain.live import drawings
from runtime.plan.sharing_plan import Plan
from spark_ingest.sources.source import Source


class Record:
    def __init__(
        self, job: str, intake: Intake, shows: list[Shows], tracing: Tracing | None = None
    ) -> None:
        self._shows = shows
        self._tracing = tracing
        self._queries: dict[str, Query] = {}
        self._ledger = Ledger(job, "ray", ())
        self._arrivals = Arrivals(0)
        self._taken: dict[int, tuple[int, float]] = {}
        self.running(intake)

    # ---- what happens ----------------------------------------------------------------------

    def resumed(self, manifest: Manifest) -> None:
        counts = manifest.counts
        self._ledger.resumed(
            Passed(
                epoch=manifest.epoch,
                rows=counts.rows,
                events=counts.events,
                late=counts.late,
                dead=counts.dead,
                results=counts.results,
                watermark=manifest.watermark,
                newest=manifest.newest,
            )
        )

    def running(self, intake: Intake) -> None:
        """The workload, at the start and whenever it changes."""
        self._queries = {query.name: query for query in intake.workload}
        self._ledger.running(self._queries)
        pane = pane_of(self._queries.values())
        if pane != self._arrivals.pane:
            self._arrivals = Arrivals(pane)

    def planned(self, intake: Intake, plan: Plan | None) -> None:
        """The plan, at the start and whenever it changes."""
        if self._shows:
            self._ledger.drawn(drawings(intake.workload, plan))

    def restarted(self, part: str) -> None:
        self._ledger.restarted(part)

    def learned(self, model: ModelFacts) -> None:
        self._ledger.learned(model)

    def stands(self, in_flight: int, backlog: int) -> None:
        """Nothing was published for a while."""
        self._ledger.stands(in_flight, backlog)
        self.show()

    def published(
        self, epoch: Epoch, finished: Finished, source: Source, in_flight: int, backlog: int
    ) -> None:
        """The results of an epoch are out."""
        self._arrive(epoch.read)
        windows = {n: epoch.intake.windows(table) for n, table in finished.tables.items()}
        counts = finished.manifest.counts
        self._ledger.passed(
            Passed(
                epoch=epoch.order.epoch,
                rows=counts.rows,
                events=counts.events,
                late=counts.late,
                dead=counts.dead,
                stages=finished.stages,
                results={name: table.num_rows for name, table in finished.tables.items()},
                windows={name: len(starts) for name, (starts, _) in windows.items()},
                latencies=self._latencies(windows, epoch, finished.published),
                decided={str(n): answer.decided for n, answer in enumerate(finished.answers)},
                actors=self._actors(finished.answers),
                watermark=epoch.order.watermark,
                newest=epoch.newest,
                in_flight=in_flight,
                backlog=backlog,
                backlog_in=source.counts_in,
                saved_bytes=sum(answer.saved_bytes for answer in finished.answers),
                checkpoint_bytes=sum(each.bytes for each in finished.manifest.units.values()),
                finished=finished.manifest.finished,
            )
        )
        if epoch.order.watermark is not None:
            self._arrivals.forget(epoch.order.watermark - windows_of(self._queries))
        if self._tracing is not None:
            self._tracing.published(epoch, finished)
        self.show()

    def _arrive(self, read: Read) -> None:
        """Files and partitions that are read together came one after the other."""
        by_time: dict[float, list[Panes]] = {}
        for told, arrived in zip(read.told, read.arrived, strict=True):
            by_time.setdefault(arrived, []).extend(told.panes)
        for arrived, panes in by_time.items():
            self._arrivals.came(joined(panes), arrived)

    def show(self) -> None:
        if self._shows:
            facts = self.facts
            for each in self._shows:
                each.tell(facts)

    # ---- what is known ---------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        return self._ledger.facts

    @property
    def decisions(self) -> list[Decisions]:
        return self._ledger.decisions

    def _actors(self, answers: list[Answer]) -> dict[str, ActorFacts]:
        found = {}
        for n, answer in enumerate(answers):
            events, seconds = self._taken.get(n, (0, 0.0))
            events, seconds = events + answer.events, seconds + answer.compute_seconds
            self._taken[n] = events, seconds
            found[str(n)] = ActorFacts(
                events,
                seconds,
                answer.statistics.state_bytes,
                answer.statistics.partitions,
                answer.statistics.live_graphlets,
                answer.statistics.open_windows,
                answer.statistics.waiting_rows,
            )
        return found

    def _latencies(
        self, windows: Mapping[str, tuple[Ints, Ints]], epoch: Epoch, published: float
    ) -> dict[str, list[float]]:
        """From the arrival of the last event of each window to its results. Of windows whose last
        event came before the job was restarted, nobody knows."""
        found = {}
        for name, (starts, ends) in windows.items():
            query = self._queries.get(name)
            if query is None:
                continue
            if query.window.counted:  # it is full with its last event
                arrived = np.full(len(starts), epoch.read.range.arrived)
            else:
                arrived = self._arrivals.of_windows(query.types, starts, ends)
            known = arrived[~np.isnan(arrived)]
            found[name] = np.maximum(published - known, 0.0).tolist()
        return found
