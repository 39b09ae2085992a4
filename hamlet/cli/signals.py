"""Handles Ctrl-C and SIGTERM: the first signal stops a job after its epoch, the second at once."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class StopSignal:
    """Whether a signal has requested the job to stop. `received` is that signal."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        return self.received is not None

    def listen(self) -> None:
        """Called after Ray has started, since Ray installs handlers of its own. Before that, no
        epoch has to be finished."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._receive)

    def close(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
        self.received = number

    @property
    def interrupted(self) -> bool:
        return self.received == signal.SIGINT
