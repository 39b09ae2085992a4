"""Ctrl-C and SIGTERM: the first asks a job to stop after its epoch, the second ends it at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """`asked` is the signal that asked for an end, if one did."""

    def __init__(self) -> None:
        self.asked: int | None = None

    def __call__(self) -> bool:
        return self.asked is not None

    def ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked is not None:
            raise KeyboardInterrupt
        self.asked = number

    @property
    def interrupted(self) -> bool:
        return self.asked == signal.SIGINT


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    stop = Stop()
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, stop.ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
