"""Tells when numba compiles. It does so for a kernel that is new to the machine; the next start
finds it compiled, which is told of nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.event import Listener, install_listener


@contextmanager
def watch_compiler(tell: Callable[[bool], None]) -> Iterator[Compiler]:
    """Calls `tell` with true when compiling begins and with false when it ends."""
    compiler = Compiler(tell)
    with install_listener("numba:compile", compiler):
        yield compiler


class Compiler(Listener):
    """A kernel compiles the functions that it calls within its own time. `seconds` is how long
    compiling has taken."""

    def __init__(self, tell: Callable[[bool], None]) -> None:
        self.seconds = 0.0
        self._tell = tell
        self._depth = 0
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = time.perf_counter()
            self._tell(True)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began
            self._tell(False)
