"""What is known of a job at one moment: totals since it began, and how things stand.

All of it is small, whatever the workload: queries, share groups and reasons beyond a limit are
counted as `other`. Pickles as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from runtime.metrics.histogram import Histogram
from runtime.optimizer.model_report import ModelFacts
from runtime.plan.decisions import Example, TypeDecisions

# No query can be called that.
OTHER, FORMER = "(other)", "(former)"

#: What an epoch's time goes into, in the order of its way.
STAGES = ("spark", "hand-over", "compute", "merge", "sink", "checkpoint")

#: What can die and begin again, and why a workload can be planned anew.
PARTS = ("aggregator", "spark", "rows")
REASONS = ("rates", "workload")


@dataclass(frozen=True)
class QueryFacts:
    """`latency` is from the arrival of the last event of a window to its result."""

    results: int = 0
    windows: int = 0
    latency: Histogram = field(default_factory=Histogram)


@dataclass(frozen=True)
class GroupFacts:
    """Queries that share, and what was decided over bursts of each type. `over`: bursts, or single
    events where conditions compare neighbours."""

    name: str
    queries: tuple[str, ...]
    over: str
    types: tuple[TypeDecisions, ...]
    carried: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Noted:
    """A decision of the log: where and when, and how many there were before it."""

    group: str
    epoch: int
    time: float
    actor: str
    example: Example
    number: int = 0


@dataclass(frozen=True)
class ActorFacts:
    """How things stand with an aggregator after its last epoch."""

    events: int = 0
    compute_seconds: float = 0.0
    state_bytes: int = 0
    partitions: int = 0
    graphlets: int = 0
    open_windows: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class CheckpointFacts:
    """`size` is what a restart would read, `written` all bytes so far, `time` of the last one.
    Without a time there are no checkpoints, or none yet."""

    size: int = 0
    written: int = 0
    time: float | None = None


@dataclass(frozen=True)
class Facts:
    job: str = "hamlet"
    engine: str = "local"
    began: float = 0.0
    time: float = 0.0
    epoch: int = -1
    epochs: int = 0
    in_flight: int = 0  #: epochs that are read or computed
    rows: int = 0
    events: int = 0
    results: int = 0  #: also of queries that are gone
    windows: int = 0
    late: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)
    stages: Mapping[str, Histogram] = field(default_factory=dict)
    queries: Mapping[str, QueryFacts] = field(default_factory=dict)
    workload: int = 0  #: how many queries there are
    groups: tuple[GroupFacts, ...] = ()
    log: tuple[Noted, ...] = ()
    actors: Mapping[str, ActorFacts] = field(default_factory=dict)
    model: ModelFacts = field(default_factory=ModelFacts)
    checkpoint: CheckpointFacts = field(default_factory=CheckpointFacts)
    watermark: int | None = None
    newest: int | None = None
    backlog: int = 0
    backlog_in: str = "bytes"
    restarts: Mapping[str, int] = field(default_factory=dict)
    finished: bool = False
    #: The merged template as SVG, by share group.
    drawings: Mapping[str, str] = field(default_factory=dict)


class Shows(Protocol):
    """Who hears of the newest facts."""

    def tell(self, facts: Facts) -> None: ...
