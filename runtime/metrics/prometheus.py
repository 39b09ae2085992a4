"""Facts as Prometheus knows them: names, help texts, labels. In base units."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from runtime.metrics.histogram import SECONDS, Histogram
from runtime.metrics.snapshot import OTHER, PARTS, REASONS, STAGES, Facts
from runtime.plan.decisions import KINDS

NANO = 1e-9
#: Every series has the name of its job, so that two jobs behind one Prometheus do not mix.
JOB = "hamlet_job"


class Families(Collector):
    """What is scraped is made of the newest facts at that moment."""

    def __init__(self, newest: Callable[[], Facts | None]) -> None:
        self._newest = newest

    def collect(self) -> Iterator[Metric]:
        facts = self._newest()
        if facts is not None:
            for family in families(facts):
                if family.samples:
                    yield family

    def describe(self) -> Iterable[Metric]:
        """Nothing is known before the first facts."""
        return ()


def families(facts: Facts) -> Iterator[Metric]:
    yield from _build(facts)
    yield from _stream(facts)
    yield from _sharing(facts)
    yield from _model(facts)
    yield from _queries(facts)
    yield from _epochs(facts)
    yield from _actors(facts)


def _build(facts: Facts) -> Iterator[Metric]:
    family = _Gauge(facts, "build_info", "What runs: always 1", "version", "python", "engine")
    family.add(1, _version(), platform.python_version(), facts.engine)
    yield family.metric
    began = _Gauge(facts, "start_timestamp_seconds", "When the job began, as Unix time")
    began.add(facts.began)
    yield began.metric


def _stream(facts: Facts) -> Iterator[Metric]:
    yield _counter(facts, "rows", "Rows that were read", facts.rows)
    yield _counter(facts, "events", "Events that were taken", facts.events)
    yield _counter(facts, "late_rows", "Rows behind the watermark, put aside", facts.late)
    dead = _Counter(facts, "dead_letter_rows", "Rows that could not be used, by reason", "reason")
    for reason, count in facts.dead.items():
        dead.add(count, reason)
    if not facts.dead:
        dead.add(0, "none")
    yield dead.metric
    yield _gauge(
        facts, "watermark_timestamp_seconds", "Up to where windows are closed", _s(facts.watermark)
    )
    yield _gauge(
        facts, "newest_event_timestamp_seconds", "The largest event time so far", _s(facts.newest)
    )
    behind = None
    if facts.watermark is not None and facts.newest is not None:
        behind = (facts.newest - facts.watermark) / 1e6
    yield _gauge(
        facts,
        "watermark_lag_seconds",
        "How far the watermark is behind the newest event, in the stream's own time",
        behind,
    )
    backlog = _Gauge(facts, "backlog", "What waits to be read, in bytes or records", "unit")
    backlog.add(facts.backlog, facts.backlog_in)
    yield backlog.metric


def _sharing(facts: Facts) -> Iterator[Metric]:
    labels = ("share_group", "kleene_type")
    bursts = _Counter(
        facts,
        "bursts",
        "Bursts by what was decided: shared after none, split, merged again, or shared as before",
        "decision",
        *labels,
    )
    events = _Counter(facts, "burst_events", "Events in the bursts that were decided on", *labels)
    created = _Counter(
        facts,
        "snapshots_created",
        "Snapshots: one for a shared graphlet, one for an event on which its queries differ",
        "level",
        *labels,
    )
    carried = _Counter(
        facts,
        "snapshots_propagated",
        "Values of snapshots that were carried on, one for each query that shares",
        "level",
        *labels,
    )
    benefit = _Gauge(
        facts,
        "predicted_benefit_seconds",
        "What sharing was predicted to save, added up; below zero where splitting was better",
        *labels,
    )
    timed = _Counter(facts, "timed_bursts", "Bursts whose work was timed", "decision", *labels)
    spent = _Counter(
        facts, "timed_bursts_seconds", "What the timed bursts took", "decision", *labels
    )
    for group in facts.groups:
        for each in group.types:
            of = (group.name, each.type)
            for kind in KINDS:
                bursts.add(getattr(each, kind), kind, *of)
            events.add(each.events, *of)
            shared = each.all - each.split
            created.add(shared, "graphlet", *of)
            created.add(each.snapshots, "event", *of)
            graphlets, differing = group.carried.get(each.type, (0, 0))
            carried.add(graphlets, "graphlet", *of)
            carried.add(differing, "event", *of)
            benefit.add(each.benefit * NANO, *of)
            for decision, times in (("shared", each.time_shared), ("split", each.time_split)):
                timed.add(times.bursts, decision, *of)
                spent.add(times.nanoseconds * NANO, decision, *of)
    for family in (bursts, events, created, carried, benefit, timed, spent):
        yield family.metric
    members = _Gauge(facts, "share_group_queries", "How many queries share", "share_group")
    for name, number in {each.name: len(each.queries) for each in facts.groups}.items():
        members.add(number, name)
    yield members.metric
    yield _members(facts)


def _members(facts: Facts) -> Metric:
    """Queries have names of their own here as far as they have them elsewhere."""
    family = _Gauge(facts, "share_group_info", "Who shares: always 1", "share_group", "query")
    pairs = {
        (group.name, query if query in facts.queries else OTHER): None
        for group in facts.groups
        for query in group.queries
    }
    for pair in pairs:
        family.add(1, *pair)
    return family.metric


def _model(facts: Facts) -> Iterator[Metric]:
    model = facts.model
    yield _gauge(
        facts,
        "model_correlation",
        "Correlation of the predicted and the measured time of bursts",
        model.correlation,
    )
    yield _gauge(
        facts,
        "model_kinds_correlation",
        "The same of the means of bursts that were predicted to take about as long",
        model.kinds_correlation,
    )
    yield _gauge(
        facts,
        "model_error_ratio",
        "By what part of the measured time half of the predictions are off, at the most",
        model.error,
    )
    yield _counter(facts, "model_samples", "Timed bursts that the model was held to", model.timed)
    yield _counter(
        facts,
        "model_predicted_seconds",
        "Predicted time of the bursts that the model was held to",
        model.predicted * NANO,
    )
    yield _counter(
        facts,
        "model_measured_seconds",
        "Measured time of the bursts that the model was held to",
        model.measured * NANO,
    )
    yield _gauge(facts, "policy_version", "Version of the newest policy", model.policy)
    yield _gauge(facts, "plan_version", "Version of the newest plan", model.plan)
    replans = _Counter(
        facts,
        "replans",
        "How often the workload was planned anew, why, and whether another plan came of it",
        "reason",
        "migrated",
    )
    # From zero on: a series that begins with one would hide the first of them from `increase`.
    never = {(reason, migrated): 0 for reason in REASONS for migrated in (False, True)}
    for (reason, migrated), count in (never | dict(model.replans)).items():
        replans.add(count, reason, "yes" if migrated else "no")
    yield replans.metric


def _queries(facts: Facts) -> Iterator[Metric]:
    yield _gauge(facts, "queries", "Queries of the workload", facts.workload)
    results = _Counter(facts, "results", "Result rows", "query")
    windows = _Counter(facts, "windows_closed", "Windows that closed with results", "query")
    latency = _Histogram(
        facts,
        "query_latency_seconds",
        "From the arrival of the last event of a window to the output of its results",
        "query",
    )
    for name, each in facts.queries.items():
        results.add(each.results, name)
        windows.add(each.windows, name)
        latency.add(each.latency, name)
    for family in (results, windows, latency):
        yield family.metric


def _epochs(facts: Facts) -> Iterator[Metric]:
    yield _counter(facts, "epochs", "Epochs that this run has committed", facts.epochs)
    last = facts.epoch if facts.epoch >= 0 else None
    yield _gauge(facts, "epoch", "Number of the last committed epoch", last)
    yield _gauge(
        facts,
        "commit_timestamp_seconds",
        "When the last epoch was committed, as Unix time",
        facts.time,
    )
    stages = _Histogram(
        facts, "epoch_stage_seconds", "How long epochs took, by the stages of their way", "stage"
    )
    for stage in STAGES:
        if stage in facts.stages:
            stages.add(facts.stages[stage], stage)
    yield stages.metric
    yield _gauge(facts, "epochs_in_flight", "Epochs that are read or computed", facts.in_flight)
    yield from _checkpoint(facts)
    restarts = _Counter(facts, "restarts", "Parts that died and began again", "part")
    for part in PARTS:
        restarts.add(facts.restarts.get(part, 0), part)
    yield restarts.metric


def _checkpoint(facts: Facts) -> Iterator[Metric]:
    kept = facts.checkpoint
    if kept.time is None:
        return
    yield _gauge(
        facts, "checkpoint_size_bytes", "What a restart would read of the checkpoint", kept.size
    )
    yield _counter(
        facts, "checkpoint_written_bytes", "Bytes written to the checkpoint", kept.written
    )
    yield _gauge(
        facts,
        "checkpoint_timestamp_seconds",
        "When the last checkpoint was made, as Unix time",
        kept.time,
    )


_OF_ACTORS = (
    ("state_bytes", "state_bytes", "Memory of partitions and their windows"),
    ("partitions", "partitions", "Partitions that are known"),
    ("graphlets", "graphlets", "Bursts that have begun and not ended"),
    ("open_windows", "open_windows", "Windows that hold state"),
    ("waiting_events", "waiting", "Events ahead of the watermark"),
)


def _actors(facts: Facts) -> Iterator[Metric]:
    for name, attribute, told in _OF_ACTORS:
        family = _Gauge(facts, name, told, "actor")
        for actor, each in facts.actors.items():
            family.add(getattr(each, attribute), actor)
        yield family.metric
    events = _Counter(facts, "actor_events", "Events that an aggregator has taken", "actor")
    compute = _Counter(
        facts, "actor_compute_seconds", "How long an aggregator has computed", "actor"
    )
    for actor, each in facts.actors.items():
        events.add(each.events, actor)
        compute.add(each.compute_seconds, actor)
    yield events.metric
    yield compute.metric


# ---- families with the name of the job -----------------------------------------------------


class _Counter:
    def __init__(self, facts: Facts, name: str, told: str, *labels: str) -> None:
        self._job = facts.job
        self.metric = CounterMetricFamily(f"hamlet_{name}", told, labels=(JOB, *labels))

    def add(self, value: float, *labels: str) -> None:
        self.metric.add_metric((self._job, *labels), value)


class _Gauge:
    def __init__(self, facts: Facts, name: str, told: str, *labels: str) -> None:
        self._job = facts.job
        self.metric = GaugeMetricFamily(f"hamlet_{name}", told, labels=(JOB, *labels))

    def add(self, value: float, *labels: str) -> None:
        self.metric.add_metric((self._job, *labels), value)


class _Histogram:
    def __init__(self, facts: Facts, name: str, told: str, *labels: str) -> None:
        self._job = facts.job
        self.metric = HistogramMetricFamily(f"hamlet_{name}", told, labels=(JOB, *labels))

    def add(self, found: Histogram, *labels: str) -> None:
        below, buckets = 0, []
        for bound, count in zip((*SECONDS, None), found.counts, strict=True):
            below += count
            buckets.append(("+Inf" if bound is None else f"{bound:g}", below))
        self.metric.add_metric((self._job, *labels), buckets, found.sum)


def _counter(facts: Facts, name: str, told: str, value: float) -> Metric:
    family = _Counter(facts, name, told)
    family.add(value)
    return family.metric


def _gauge(facts: Facts, name: str, told: str, value: float | None) -> Metric:
    """Without a series where nothing is known."""
    family = _Gauge(facts, name, told)
    if value is not None:
        family.add(value)
    return family.metric


def _s(micros: int | None) -> float | None:
    return None if micros is None else micros / 1e6


def _version() -> str:
    try:
        return version("hamlet-runtime")
    except PackageNotFoundError:
        return "unknown"
