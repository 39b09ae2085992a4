"""Loads the page writer for a benchmark that writes its part of the page."""

from __future__ import annotations

from types import ModuleType

from runtime.errors import HamletError


def pages() -> ModuleType:
    """Call this before hours of measuring: matplotlib is a development dependency."""
    try:
        from benchmarks import page
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise HamletError("plots need matplotlib", "`make setup` installs it") from None
    return page
