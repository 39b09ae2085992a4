"""What planners know about a stream: how often each event type occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from runtime.errors import HamletError


@dataclass(frozen=True)
class Statistics:
    """`counts` are events by type over any period; `bursts` are the known mean lengths of
    bursts."""

    counts: Mapping[str, float] = field(default_factory=dict)
    bursts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, given in (("counts", self.counts), ("bursts", self.bursts)):
            for type_, number in given.items():
                if not isinstance(number, int | float) or not 0 <= number < inf:
                    raise HamletError(
                        f"the {what} of `{type_}` are {number!r}", "a number that is 0 or more"
                    )

    @classmethod
    def read(cls, given: Statistics | Mapping[str, float] | None) -> Statistics:
        """Converts event counts by type to statistics."""
        if given is None:
            return cls()
        if isinstance(given, Statistics):
            return given
        if isinstance(given, Mapping):
            return cls(given)
        raise HamletError(
            f"statistics are counts of events by type, but this is {given!r}",
            'such as {"Travel": 9_000, "Request": 1_000}',
        )

    def with_types(self, types: Iterable[str]) -> Statistics:
        """Adds missing types, each with a count of one."""
        return replace(self, counts={**dict.fromkeys(types, 1.0), **self.counts})

    def shares(self, types: Iterable[str]) -> dict[str, float]:
        """The fraction of all events that each of these types has; equal if there are no
        events."""
        names = tuple(types)
        total = sum(self.counts.values())
        if total == 0:
            return dict.fromkeys(names, 1 / len(names)) if names else {}
        return {type_: self.counts[type_] / total for type_ in names}

    def burst(self, type_: str) -> float:
        return max(1.0, self.bursts.get(type_, 1.0))
