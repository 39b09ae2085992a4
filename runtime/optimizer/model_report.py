"""What the optimizer reports: each re-plan, and how well the cost model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime.plan.policy import Policy


@dataclass(frozen=True)
class Replan:
    """One re-plan: when (Unix time), why, whether the plan changed, and what that changes in the
    physical plan."""

    time: float
    reason: str
    planner: str
    before: float
    after: float
    migrated: bool
    change: str = ""


@dataclass(frozen=True)
class ModelFacts:
    """How good the cost model is: `correlation` is over single bursts, `kinds_correlation` over
    the means of those that are alike. `predicted` and `measured` are nanoseconds of the timed
    bursts, added up."""

    correlation: float | None = None
    error: float | None = None
    timed: int = 0
    predicted: float = 0.0
    measured: float = 0.0
    policy: int = 0
    plan: int = 0
    planner: str = ""
    kinds_correlation: float | None = None
    replans: Mapping[tuple[str, bool], int] = field(default_factory=dict)  #: by why and outcome
    last_replans: tuple[Replan, ...] = ()
    policies: tuple[Policy, ...] = ()  #: the last ones, so that decisions by them can be told

    @property
    def replans_migrated(self) -> int:
        return sum(count for (_, migrated), count in self.replans.items() if migrated)
