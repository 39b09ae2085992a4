"""Tells when numba compiles. It does so for a kernel that is new to the machine; the next start
finds it compiled, which is told of nobody."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from numba.core.event import Listener, install_listener


def watch_compiler(tell: Callable[[bool], None]) -> AbstractContextManager[None]:
    """Calls `tell` with true when compiling begins and with false when it ends."""
    return install_listener("numba:compile", _Compiler(tell))


class _Compiler(Listener):
    """A kernel compiles the functions that it calls within its own time."""

    def __init__(self, tell: Callable[[bool], None]) -> None:
        self._tell = tell
        self._depth = 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._tell(True)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._tell(False)
