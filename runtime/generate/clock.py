"""Draws the times of generated events."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

START = datetime(2024, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = 60_000_000


def microseconds(moment: datetime) -> int:
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


class EventClock:
    """Gives each event an equal stretch of time and a random moment in it, so the rate holds."""

    def __init__(self, start: datetime, rate: float, unit: str) -> None:
        self._start = microseconds(start)
        self._stretch = MINUTE / rate
        self._per_unit = 1_000_000 if unit == "s" else 1

    def times(self, first: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        moments = (np.arange(first, first + count) + rng.random(count)) * self._stretch
        return (self._start + moments.astype(np.int64)) // self._per_unit
