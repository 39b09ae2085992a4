"""Folders of programs that take a moment to end."""

import shutil
import time
from pathlib import Path

from tools.patience import PATIENCE_S


def remove(folder: Path) -> None:
    """Processes that were left behind may still write to it."""
    until = time.monotonic() + PATIENCE_S
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=time.monotonic() < until)
