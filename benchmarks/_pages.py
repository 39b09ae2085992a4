"""The pages, for a benchmark that writes its part of them beside what it measured."""

from __future__ import annotations

from types import ModuleType

from runtime.errors import HamletError


def pages() -> ModuleType:
    """Asked for before hours of measuring, since matplotlib comes with the tools only."""
    try:
        from benchmarks import page
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise HamletError("plots need matplotlib", "`make setup` installs it") from None
    return page
