"""Finds the folder for files that can be rebuilt or downloaded again."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from runtime.temporary_folder import TemporaryFolder


def cache_of(kind: str) -> Path:
    """A folder below HAMLET_CACHE or the user's cache folder, or a temporary one if neither is
    writable."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("HAMLET_CACHE") or Path(base) / "hamlet") / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return _temporary(kind)


@cache
def _temporary(kind: str) -> Path:
    return TemporaryFolder(f"{kind}-").path
