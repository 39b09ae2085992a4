"""Adds up what each epoch of a job reports, into a snapshot of its metrics."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from runtime.metrics.histogram import Histogram
from runtime.metrics.sharing_totals import SharingTotals
from runtime.metrics.snapshot import (
    OTHER,
    CheckpointMetrics,
    DecisionLogEntry,
    JobProgress,
    MetricsSnapshot,
    QueryMetrics,
)
from runtime.optimizer.model_report import ModelMetrics
from runtime.plan.decisions import Decisions, group_name

# How many queries and reasons have series of their own.
NAMED_QUERIES, NAMED_REASONS = 200, 20
# Decisions that a snapshot holds, and how many of a share group are added with an epoch.
LOGGED = 256
EXAMPLES_EACH = 4


@dataclass(frozen=True)
class EpochStats(JobProgress):
    """What one epoch reports: the progress of the whole job, and what happened in this epoch.
    `latencies` are in seconds, one for each window of a query with results."""

    stages: Mapping[str, float] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)
    windows: Mapping[str, int] = field(default_factory=dict)
    latencies: Mapping[str, list[float]] = field(default_factory=dict)
    decided: Mapping[str, list[Decisions]] = field(default_factory=dict)  #: by actor
    saved_bytes: int = 0
    checkpoint_bytes: int | None = None  #: None: there are no checkpoints


class _QueryTotals:
    def __init__(self) -> None:
        self.results = 0
        self.windows = 0
        self.latency = Histogram()

    @property
    def metrics(self) -> QueryMetrics:
        return QueryMetrics(self.results, self.windows, self.latency.copy())


class MetricsCollector:
    def __init__(self, job: str, engine: str, queries: Iterable[str]) -> None:
        now = time.time()
        self._latest = MetricsSnapshot(job=job, engine=engine, began=now, time=now)
        self._queries: dict[str, _QueryTotals] = {}
        self._other_queries = _QueryTotals()
        self._workload = 0
        self._known: set[str] = set()
        self._stages: dict[str, Histogram] = {}
        self._sharing = SharingTotals()
        self._log: deque[DecisionLogEntry] = deque(maxlen=LOGGED)
        self._logged = 0
        self._restarts: Counter[str] = Counter()
        self._drawings: dict[str, str] = {}
        self.set_queries(queries)

    # ---- updates ---------------------------------------------------------------------------

    def resume(self, last: EpochStats) -> None:
        """Continues from a checkpoint, made after an epoch with these totals."""
        for name, number in last.results.items():
            self._queries.get(name, self._other_queries).results += number
        self._latest = replace(self._latest, **_progress(last), results=sum(last.results.values()))

    def set_queries(self, queries: Iterable[str]) -> None:
        """Replaces the workload, and forgets removed queries. A query keeps its own series, or has
        none, for as long as it runs: so no counter ever decreases."""
        now = dict.fromkeys(queries)
        new = [name for name in now if name not in self._known]
        self._queries = {name: each for name, each in self._queries.items() if name in now}
        for name in new[: NAMED_QUERIES - len(self._queries)]:
            self._queries[name] = _QueryTotals()
        self._known, self._workload = set(now), len(now)
        self._sharing.set_queries(self._known)

    def record_epoch(self, stats: EpochStats) -> None:
        """Adds an epoch that is committed and whose results are published."""
        now = time.time()
        for stage, seconds in stats.stages.items():
            self._stages.setdefault(stage, Histogram()).add(seconds)
        for name, number in stats.results.items():
            if name in self._known:
                query = self._queries.get(name, self._other_queries)
                query.results += number
                query.windows += stats.windows.get(name, 0)
                query.latency.add_all(stats.latencies.get(name, ()))
        for actor, decided in stats.decided.items():
            for each in decided:
                self._sharing.add(each)
                self._log_examples(each, actor, stats.epoch, now)
        latest = self._latest
        self._latest = replace(
            latest,
            **_progress(stats),
            time=now,
            epochs=latest.epochs + 1,
            results=latest.results + sum(stats.results.values()),
            windows=latest.windows + sum(stats.windows.values()),
            checkpoint=self._checkpoint(stats, now),
        )

    def _checkpoint(self, stats: EpochStats, now: float) -> CheckpointMetrics:
        known = self._latest.checkpoint
        if stats.checkpoint_bytes is None:
            return known
        return CheckpointMetrics(stats.checkpoint_bytes, known.written + stats.saved_bytes, now)

    def report_idle(self, in_flight: int, backlog: int) -> None:
        """Updates what may change without a commit, so that a job that hangs can be told from one
        that has nothing to do."""
        self._latest = replace(self._latest, in_flight=in_flight, backlog=backlog)

    def mark_reported(self) -> None:
        """The driver works. It says so every few seconds, also while no epoch is committed."""
        self._latest = replace(self._latest, reported=time.time())

    def set_model(self, model: ModelMetrics) -> None:
        self._latest = replace(self._latest, model=model)

    def count_restart(self, part: str) -> None:
        """A part failed, and its work is repeated."""
        self._restarts[part] += 1

    def set_drawings(self, drawings: Mapping[str, str]) -> None:
        self._drawings = dict(drawings)

    def _log_examples(self, decided: Decisions, actor: str, epoch: int, now: float) -> None:
        name = group_name(decided.queries)
        newest = sorted(decided.examples, key=lambda each: each.number)[-EXAMPLES_EACH:]
        for example in newest:
            self._log.append(DecisionLogEntry(name, epoch, now, actor, example, self._logged))
            self._logged += 1

    # ---- results ---------------------------------------------------------------------------

    @property
    def decisions(self) -> list[Decisions]:
        return self._sharing.decisions

    @property
    def snapshot(self) -> MetricsSnapshot:
        return replace(
            self._latest,
            stages={name: each.copy() for name, each in self._stages.items()},
            queries=self._query_metrics(),
            workload=self._workload,
            groups=tuple(self._sharing.metrics()),
            log=tuple(self._log),
            restarts=dict(self._restarts),
            drawings=self._drawings,
        )

    def _query_metrics(self) -> dict[str, QueryMetrics]:
        found = {name: each.metrics for name, each in self._queries.items()}
        if self._workload > len(self._queries) or self._other_queries.results:
            found[OTHER] = self._other_queries.metrics
        return found


def _progress(stats: JobProgress) -> dict[str, Any]:
    found = {each.name: getattr(stats, each.name) for each in fields(JobProgress)}
    return found | {
        "invalid_rows": _bounded(stats.invalid_rows, NAMED_REASONS),
        "actors": dict(stats.actors),
    }


def _bounded(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """The first ones keep their names and the rest are `(other)`, so that no counter decreases."""
    each = list(counts.items())
    found = dict(each[:most])
    if len(each) > most:
        found[OTHER] = found.get(OTHER, 0) + sum(count for _, count in each[most:])
    return found
