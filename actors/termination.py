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

    Within, `ray.init` cannot put a handler of its own in that place.
    """
    from ray._private import utils

    # Only the main thread may handle signals.
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        stack.callback(signal.signal, signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, _exit)
    with patch.object(utils, "set_sigterm_handler", _nothing):
        yield


def _exit(signum: int, frame: FrameType | None) -> None:
    sys.exit(TERMINATED)


def _nothing(*_: Any) -> None:
    pass
