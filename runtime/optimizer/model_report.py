"""What the optimizer reports: its re-plans, and how well the cost model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime.plan.policy import Policy


@dataclass(frozen=True)
class Replan:
    """One re-plan: when (Unix time), why, whether the plan changed, and the difference between the
    two physical plans. `before` and `after` are the estimated nanoseconds for an event."""

    time: float
    reason: str
    planner: str
    before: float
    after: float
    migrated: bool
    change: str = ""


@dataclass(frozen=True)
class ModelMetrics:
    """How well the cost model predicts. `correlation` is over single bursts, `kinds_correlation`
    over the means of bursts with similar predictions, `error` the median relative error.
    `predicted` and `measured` are the total nanoseconds of the timed bursts."""

    correlation: float | None = None
    error: float | None = None
    timed: int = 0
    predicted: float = 0.0
    measured: float = 0.0
    policy: int = 0
    plan: int = 0
    planner: str = ""
    kinds_correlation: float | None = None
    #: By reason, and whether the plan changed.
    replans: Mapping[tuple[str, bool], int] = field(default_factory=dict)
    last_replans: tuple[Replan, ...] = ()
    policies: tuple[Policy, ...] = ()  #: the last ones, to explain decisions made by them

    @property
    def replans_migrated(self) -> int:
        return sum(count for (_, migrated), count in self.replans.items() if migrated)
