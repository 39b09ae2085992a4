"""Measures how long numba compiles kernels that are new to this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.event import Listener, install_listener


@contextmanager
def watch_compiler(tell: Callable[[bool], None]) -> Iterator[CompileListener]:
    """Calls `tell` with true when compiling begins and with false when it ends."""
    compiler = CompileListener(tell)
    with install_listener("numba:compile", compiler):
        yield compiler


class CompileListener(Listener):
    """`seconds` is how long compiling has taken. A kernel's time includes the functions that it
    calls."""

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
