"""Ctrl-C and SIGTERM: the first asks a job to stop after its epoch, the second ends it at once."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Stop:
    """`asked` is the signal that asked for an end, if one did."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        return self.asked is not None

    def listen(self) -> None:
        """From now on: before, there is nothing yet to be stopped gently. Comes after Ray, which
        handles signals as well."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)

    def close(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked is not None:
            raise KeyboardInterrupt
        self.asked = number

    @property
    def interrupted(self) -> bool:
        return self.asked == signal.SIGINT
