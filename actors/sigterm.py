"""Makes SIGTERM end a run like Ctrl-C: every open `with` is closed."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from actors.ray_patches import no_sigterm_handler

TERMINATED = 128 + signal.SIGTERM


@contextmanager
def terminated_by(stack: ExitStack) -> Iterator[None]:
    """Turns SIGTERM into `SystemExit` until the stack closes, unless there is a handler already.

    `ray.init` may run inside the `with`. It installs a native handler, which prints a stack trace
    to the terminal, so ours is installed again afterwards.
    """
    if threading.current_thread() is not threading.main_thread():  # no signals elsewhere
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    handler = before if callable(before) or before == signal.SIG_IGN else _exit
    stack.callback(_restore, before)
    signal.signal(signal.SIGTERM, handler)
    with no_sigterm_handler():
        yield
    signal.signal(signal.SIGTERM, handler)


def _restore(before: Any) -> None:
    """Only the main thread may set handlers. If another one closes the stack, ours stays."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def _exit(signum: int, frame: FrameType | None) -> None:
    sys.exit(TERMINATED)
