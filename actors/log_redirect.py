"""Redirects the logs of libraries to a file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def logged_to(file: Path, *names: str) -> Iterator[None]:
    """Makes loggers of these names write to the file only."""
    handler = logging.FileHandler(file, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in names]
    before = [(logger, logger.propagate, logger.handlers[:]) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [handler], False
    try:
        yield
    finally:
        for logger, propagate, handlers in before:
            logger.handlers, logger.propagate = handlers, propagate
        handler.close()
