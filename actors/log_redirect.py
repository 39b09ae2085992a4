"""What libraries have to say goes into a file, not between our results."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def logged_to(file: Path, *names: str) -> Iterator[None]:
    """Loggers of these names write to the file and nowhere else."""
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


@contextmanager
def no_messages() -> Iterator[None]:
    """What Ray tells of workers that die goes to its log. It would print it to standard output,
    between our results."""
    from ray._private import worker

    with patch.object(worker, "print_to_stdstream", _logged):
        yield


def _logged(data: dict[str, Any], ignore_prefix: bool) -> None:
    for line in data["lines"]:
        logging.getLogger("ray").warning("%s: %s", data["pid"], line)
