"""SIGTERM ends a run as Ctrl-C does: by way of every `with` that is open."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any
from unittest.mock import patch

TERMINATED = 128 + signal.SIGTERM


@contextmanager
def terminated_by(stack: ExitStack) -> Iterator[None]:
    """Turns SIGTERM into `SystemExit` until the stack closes, unless somebody handles it already.

    Within, `ray.init` may run. It installs a handler of Python's, which has no place here, and
    one of its own below Python's, which writes a stack trace to the terminal.
    """
    from ray._private import utils

    if threading.current_thread() is not threading.main_thread():  # no signals elsewhere
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    handler = before if callable(before) or before == signal.SIG_IGN else _exit
    stack.callback(signal.signal, signal.SIGTERM, before)
    signal.signal(signal.SIGTERM, handler)
    with patch.object(utils, "set_sigterm_handler", _nothing):
        yield
    signal.signal(signal.SIGTERM, handler)


def _exit(signum: int, frame: FrameType | None) -> None:
    sys.exit(TERMINATED)


def _nothing(*_: Any) -> None:
    pass
