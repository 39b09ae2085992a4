"""What an engine observed of a stream and the times of its operators: the optimizer's input.

All numbers are since the last report, so that reports add up. Pickles as is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runtime.plan.cost_model import Samples


@dataclass(frozen=True)
class OperatorTime:
    """The queries of an operator, the events it processed, in how much time and how many
    batches."""

    queries: tuple[str, ...]
    events: int
    nanoseconds: int
    batches: int = 1


@dataclass(frozen=True)
class Observations:
    """`counts` are the events of types that queries name, and `others` all other events; `bursts`
    are the bursts of each type with a sharing decision, and `in_bursts` their events."""

    counts: Mapping[str, int] = field(default_factory=dict)
    others: int = 0
    bursts: Mapping[str, int] = field(default_factory=dict)
    in_bursts: Mapping[str, int] = field(default_factory=dict)
    operator_times: tuple[OperatorTime, ...] = ()
    state_bytes: int = 0
    samples: Samples = field(default_factory=Samples.empty)  #: bursts that were timed

    @classmethod
    def merge(cls, several: Iterable[Observations]) -> Observations:
        """The observations of several engines as one. Operator times stay separate."""
        seen = list(several)
        return cls(
            _sum(each.counts for each in seen),
            sum(each.others for each in seen),
            _sum(each.bursts for each in seen),
            _sum(each.in_bursts for each in seen),
            tuple(time for each in seen for time in each.operator_times),
            sum(each.state_bytes for each in seen),
            Samples.concat(each.samples for each in seen),
        )


def _sum(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in several:
        total.update(each)
    return dict(total)
