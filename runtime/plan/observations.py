"""What an engine saw of a stream, and how long its runs took: what an optimizer learns from.

Everything is since the last time it was taken, so that reports add up. Pickles as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runtime.plan.cost_model import Samples


@dataclass(frozen=True)
class OperatorTime:
    """The queries of a run, the events that went through it, how long that took, and in how many
    batches they came."""

    queries: tuple[str, ...]
    events: int
    nanoseconds: int
    batches: int = 1


@dataclass(frozen=True)
class Observations:
    """`counts` are the events of types that queries name, and `others` all other ones; `bursts`
    the bursts of each type that were decided on, and `in_bursts` their events."""

    counts: Mapping[str, int] = field(default_factory=dict)
    others: int = 0
    bursts: Mapping[str, int] = field(default_factory=dict)
    in_bursts: Mapping[str, int] = field(default_factory=dict)
    runs: tuple[OperatorTime, ...] = ()
    state_bytes: int = 0
    samples: Samples = field(default_factory=Samples.none)  #: bursts that were timed

    @classmethod
    def all(cls, several: Iterable[Observations]) -> Observations:
        """What several engines saw, as one. Each run is kept by itself."""
        found = list(several)
        return cls(
            _sum(each.counts for each in found),
            sum(each.others for each in found),
            _sum(each.bursts for each in found),
            _sum(each.in_bursts for each in found),
            tuple(run for each in found for run in each.runs),
            sum(each.state_bytes for each in found),
            Samples.all(each.samples for each in found),
        )


def _sum(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in several:
        total.update(each)
    return dict(total)
