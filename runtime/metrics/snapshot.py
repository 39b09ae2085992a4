"""The state of a job at one moment: totals since it started, and current values.

A snapshot stays small whatever the workload: queries, share groups and reasons beyond a limit are
counted as `(other)`. It can be pickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from runtime.metrics.histogram import Histogram
from runtime.optimizer.model_report import ModelMetrics
from runtime.plan.decisions import DecisionExample, TypeDecisions

# Not valid as the name of a query.
OTHER, FORMER = "(other)", "(former)"

#: The stages of an epoch, in order.
STAGES = ("spark", "hand-over", "compute", "merge", "sink", "checkpoint")

#: The processes that are restarted after a failure.
RESTARTED = ("aggregator", "router", "optimizer", "hub", "control", "executor")
#: The parts that can fail and restart. `spark` is a range that was read again, `rows` are those
#: that were lost in transit.
PARTS = (*RESTARTED, "spark", "rows")
#: Why a workload is re-planned.
REASONS = ("rates", "workload")


@dataclass(frozen=True)
class QueryMetrics:
    """`latency` is the time from the arrival of a window's last event to its results."""

    results: int = 0
    windows: int = 0
    latency: Histogram = field(default_factory=Histogram)


@dataclass(frozen=True)
class ShareGroupMetrics:
    """Queries that share, and the decisions about each Kleene type. `over` is what decisions are
    about: bursts, or single events if predicates compare adjacent events. `carried` has the
    propagated snapshot values of each type: of graphlets, and of events."""

    name: str
    queries: tuple[str, ...]
    over: str
    types: tuple[TypeDecisions, ...]
    carried: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class DecisionLogEntry:
    """One decision: where and when it was made. `number` counts the entries before it."""

    group: str
    epoch: int
    time: float
    actor: str
    example: DecisionExample
    number: int = 0


@dataclass(frozen=True)
class ActorMetrics:
    """An aggregator after its last epoch."""

    events: int = 0
    compute_seconds: float = 0.0
    state_bytes: int = 0
    partitions: int = 0
    graphlets: int = 0
    open_windows: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class CheckpointMetrics:
    """`size` is what a restart would read, `written` the bytes written so far, `time` that of the
    last checkpoint: None if there is none."""

    size: int = 0
    written: int = 0
    time: float | None = None


@dataclass(frozen=True)
class JobProgress:
    """What every epoch reports about the whole job, and the snapshot shows unchanged."""

    epoch: int = -1
    rows: int = 0
    events: int = 0
    late: int = 0
    invalid_rows: Mapping[str, int] = field(default_factory=dict)
    actors: Mapping[str, ActorMetrics] = field(default_factory=dict)
    watermark: int | None = None
    newest: int | None = None
    backlog: int = 0
    backlog_in: str = "bytes"
    in_flight: int = 0  #: epochs that are being read or computed
    finished: bool = False


@dataclass(frozen=True)
class MetricsSnapshot(JobProgress):
    job: str = "hamlet"
    engine: str = "local"
    began: float = 0.0
    time: float = 0.0  #: of the last commit
    reported: float | None = None  #: when the driver last reported; None if it does not do so
    epochs: int = 0
    results: int = 0  #: of all queries, also of those that were removed
    windows: int = 0
    stages: Mapping[str, Histogram] = field(default_factory=dict)
    queries: Mapping[str, QueryMetrics] = field(default_factory=dict)
    workload: int = 0  #: number of queries
    groups: tuple[ShareGroupMetrics, ...] = ()
    log: tuple[DecisionLogEntry, ...] = ()
    model: ModelMetrics = field(default_factory=ModelMetrics)
    checkpoint: CheckpointMetrics = field(default_factory=CheckpointMetrics)
    restarts: Mapping[str, int] = field(default_factory=dict)
    #: The merged template of each share group, as SVG.
    drawings: Mapping[str, str] = field(default_factory=dict)


class MetricsListener(Protocol):
    """Receives each new snapshot."""

    def update(self, snapshot: MetricsSnapshot) -> None: ...
