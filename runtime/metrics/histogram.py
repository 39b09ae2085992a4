"""Counts measured values by size, in buckets as Prometheus does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

#: Upper bounds in seconds, from a millisecond to an hour.
SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600),
)


@dataclass
class Histogram:
    """`counts[i]` is the number of values up to the i-th bound and above the one before; the last
    count is for values above all bounds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    sum: float = 0.0
    largest: float = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(SECONDS, value)] += 1
        self.sum += value
        self.largest = max(self.largest, value)

    def add_all(self, values: Iterable[float]) -> None:
        for value in values:
            self.add(value)

    def merge(self, other: Histogram) -> None:
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.sum += other.sum
        self.largest = max(self.largest, other.largest)

    @property
    def count(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        return self.sum / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """An estimate: assumes that values are spread evenly within a bucket."""
        wanted, below = share * self.count, 0
        for place, count in enumerate(self.counts):
            if count and below + count >= wanted:
                low = SECONDS[place - 1] if place else 0.0
                high = min(SECONDS[place], self.largest) if place < len(SECONDS) else self.largest
                return low + (high - low) * (wanted - below) / count
            below += count
        return None

    def copy(self) -> Histogram:
        return Histogram(list(self.counts), self.sum, self.largest)
