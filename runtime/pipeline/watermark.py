"""Computes the watermark of a stream: the largest time of the slowest source partition that is not
idle, minus the lateness."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

IDLE_SECONDS = 30.0


class Watermark:
    def __init__(
        self,
        lateness: int,
        *,
        clocks: Mapping[str, int] | None = None,
        value: int | None = None,
        idle: float = IDLE_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`lateness` is in microseconds. A partition without rows for `idle` seconds does not hold
        the others back."""
        self.value = value
        self.clocks = dict(clocks or {})
        self._lateness = lateness
        self._idle = idle
        self._now = now
        self._last_active = dict.fromkeys(self.clocks, now())

    @property
    def newest(self) -> int | None:
        return max(self.clocks.values(), default=None)

    def replay(self, value: int | None, clocks: Mapping[str, int]) -> int | None:
        """Sets the watermark of a replayed epoch."""
        self.value, self.clocks = value, dict(clocks)
        self._last_active = dict.fromkeys(self.clocks, self._now())
        return value

    def observe(self, newest: Mapping[str, int]) -> int | None:
        """The watermark after an epoch with these largest times by partition. It never moves
        back."""
        now = self._now()
        for clock, largest in newest.items():
            self.clocks[clock] = max(largest, self.clocks.get(clock, largest))
            self._last_active[clock] = now
        active = [c for c in self.clocks if now - self._last_active[c] < self._idle]
        if active:
            moved = min(self.clocks[clock] for clock in active) - self._lateness
            self.value = moved if self.value is None else max(self.value, moved)
        return self.value
