"""What planners know of a stream: how often events of each type come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Statistics:
    """`counts` are events by type, over whatever time; `bursts` the mean lengths of bursts, where
    they are known."""

    counts: Mapping[str, float] = field(default_factory=dict)
    bursts: Mapping[str, float] = field(default_factory=dict)

    def including(self, types: Iterable[str]) -> Statistics:
        """With all these types: one that was not seen yet is taken to come once."""
        return replace(self, counts={**dict.fromkeys(types, 1.0), **self.counts})

    def shares(self, types: Iterable[str]) -> dict[str, float]:
        """The part of all events that are of each of these types."""
        total = sum(self.counts.values())
        return {type_: self.counts[type_] / total for type_ in types}

    def burst(self, type_: str) -> float:
        return max(1.0, self.bursts.get(type_, 1.0))
