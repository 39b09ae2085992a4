"""Windows of time and windows of events, each a class with its arithmetic.

Window k contains the `within` points from `k * slide` on. Points are microseconds in windows of
time, and events of a partition in windows of events.

A new unit is declared here. A window of another shape than `k * slide` also changes the operators,
see *Common changes* in ARCHITECTURE.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.types.time_codec import TimeCodec

Point = TypeVar("Point", int, npt.NDArray[np.int64])

SECOND = 1_000_000


@dataclass(frozen=True)
class Window(ABC):
    """`counted`: the points are the events of a partition, not times."""

    within: int
    slide: int

    kind: ClassVar[str]
    counted: ClassVar[bool]
    #: The units that a query can write, in points.
    units: ClassVar[dict[str, int]]
    #: The name of the smallest unit in messages.
    smallest: ClassVar[str]

    def covering(self, point: int) -> range:
        """The numbers k of the windows that contain a point."""
        return range((point - self.within) // self.slide + 1, point // self.slide + 1)

    def first_from(self, point: int) -> int:
        """The number k of the first window that starts there or later."""
        return -(-point // self.slide)

    def last_until(self, point: int) -> int:
        """The number k of the last window that ends there or earlier."""
        return (point - self.within) // self.slide

    def start(self, k: Point) -> Point:
        return k * self.slide

    def end(self, k: Point) -> Point:
        return k * self.slide + self.within

    @property
    def open_at_once(self) -> int:
        """The largest number of windows that contain one point."""
        return -(-self.within // self.slide)

    @property
    def overlaps(self) -> bool:
        return self.slide < self.within

    @abstractmethod
    def bounds(self, windows: npt.ArrayLike, clock: TimeCodec | None) -> tuple[pa.Array, pa.Array]:
        """`window_start` and `window_end` of result rows, by the numbers k of their windows.
        Without a clock there was no input, so there are no rows."""

    def why_not(self, clock: TimeCodec) -> str | None:
        """Why the type of the times cannot represent the bounds of such windows, if so."""
        return None


class TimeWindow(Window):
    """A window of `within` microseconds."""

    kind = "time"
    counted = False
    units: ClassVar[dict[str, int]] = {
        **dict.fromkeys(("us", "microsecond", "microseconds"), 1),
        **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1_000),
        **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), SECOND),
        **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60 * SECOND),
        **dict.fromkeys(("h", "hour", "hours"), 3600 * SECOND),
        **dict.fromkeys(("d", "day", "days"), 86_400 * SECOND),
    }
    smallest = "microseconds"

    def bounds(self, windows: npt.ArrayLike, clock: TimeCodec | None) -> tuple[pa.Array, pa.Array]:
        numbers = np.asarray(windows, np.int64)
        starts, ends = self.start(numbers), self.end(numbers)
        if clock is None:
            return pa.array(starts.tolist()), pa.array(ends.tolist())
        return clock.to_arrow(starts), clock.to_arrow(ends)

    def why_not(self, clock: TimeCodec) -> str | None:
        return clock.check_window(self.within, self.slide)


class EventWindow(Window):
    """A window of `within` events of a partition."""

    kind = "events"
    counted = True
    units: ClassVar[dict[str, int]] = dict.fromkeys(("event", "events"), 1)
    smallest = "events"

    def bounds(self, windows: npt.ArrayLike, clock: TimeCodec | None) -> tuple[pa.Array, pa.Array]:
        """The ordinals of the first and of the last event."""
        numbers = np.asarray(windows, np.int64)
        return pa.array(self.start(numbers)), pa.array(self.end(numbers) - 1)


#: Windows of different kinds are never shared. In the order of evaluation.
WINDOW_KINDS: tuple[type[Window], ...] = (TimeWindow, EventWindow)


def pane_of(windows: Iterable[Window]) -> int:
    """The greatest length that divides every window and every slide; 0 if there are none."""
    return gcd(*(length for window in windows for length in (window.within, window.slide)))
