"""Redirects what libraries log, and what they write to standard error, to files."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STDERR = 2


@contextmanager
def stderr_to(file: Path) -> Iterator[None]:
    """Makes native code and child processes write to the file instead of standard error.

    Ray's C++ writes errors to the file descriptor, and has no option for that. `sys.stderr` still
    writes to the terminal.
    """
    ours = _is_stderr(sys.stderr)
    terminal = os.dup(STDERR)
    with open(file, "ab", buffering=0) as log:
        os.dup2(log.fileno(), STDERR)
    before = sys.stderr
    if ours:
        before.flush()
        sys.stderr = open(  # noqa: SIM115
            terminal, "w", 1, encoding=before.encoding, errors=before.errors, closefd=False
        )
    try:
        yield
    finally:
        if ours:
            sys.stderr.flush()
            sys.stderr = before
        os.dup2(terminal, STDERR)
        os.close(terminal)


def _is_stderr(stream: Any) -> bool:
    """Tests replace it by one without a descriptor, or with another one."""
    try:
        return stream is not None and stream.fileno() == STDERR
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def logged_to(file: Path, *names: str) -> Iterator[Callable[[], None]]:
    """Makes loggers of these names write to the file only. Yields a function that does so once
    more, for libraries that change their loggers."""
    handler = logging.FileHandler(file, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in names]
    before = [(logger, logger.propagate, logger.handlers[:]) for logger in loggers]

    def redirect() -> None:
        for logger in loggers:
            logger.handlers, logger.propagate = [handler], False

    redirect()
    try:
        yield redirect
    finally:
        for logger, propagate, handlers in before:
            logger.handlers, logger.propagate = handlers, propagate
        handler.close()
