"""Decides how many bytes an epoch reads: few while the job keeps up, more if it falls behind."""

from __future__ import annotations

from collections.abc import Mapping

# Small epochs give results early. Large ones cost less for each event.
LEAST_BYTES, MOST_BYTES = 4 << 20, 64 << 20
# Nobody waits for the first rows of a bounded input, so its epochs are never smaller.
BOUNDED_BYTES = 32 << 20
QUICK_SECONDS, SLOW_SECONDS = 1.0, 4.0


class EpochPacer:
    def __init__(self, bounded: bool = False) -> None:
        self._least = min(MOST_BYTES, BOUNDED_BYTES if bounded else LEAST_BYTES)
        self.limit = self._least  #: how many bytes the next epoch reads at most

    def adjust(self, read_bytes: int, stages: Mapping[str, float]) -> None:
        """Halves the limit after a slow epoch; doubles it after a quick one that nearly reached
        it. `stages` are the seconds that each stage took."""
        slowest = max(stages["spark"] + stages["hand-over"], stages["compute"], stages["sink"])
        if slowest > SLOW_SECONDS:
            self.limit = max(self._least, self.limit // 2)
        elif slowest < QUICK_SECONDS and read_bytes >= self.limit // 2:
            self.limit = min(MOST_BYTES, self.limit * 2)
