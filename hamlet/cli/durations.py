"""Parses durations such as 10s, 500ms or 2 minutes, and sizes such as 16MB."""

from __future__ import annotations

import re

from runtime.errors import HamletError

_MICROS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_WORDS = {
    "second": "s",
    "seconds": "s",
    "min": "m",
    "minute": "m",
    "minutes": "m",
    "hour": "h",
    "hours": "h",
}
_BYTES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE)


def parse_duration(text: str) -> int:
    """Microseconds."""
    found = _WRITTEN.fullmatch(text)
    unit = "" if found is None else found[2].lower()
    unit = _WORDS.get(unit, unit)
    if found is None or unit not in _MICROS:
        raise HamletError(f"`{text}` is not a duration", "write it as 10s, 500ms, 2m or 1h")
    return round(float(found[1]) * _MICROS[unit])


def parse_size(text: str) -> int:
    """Bytes."""
    found = _WRITTEN.fullmatch(text)
    if found is None or found[2].lower() not in _BYTES:
        raise HamletError(f"`{text}` is not a size", "write it as 16MB, 500KB or 1GB")
    return round(float(found[1]) * _BYTES[found[2].lower()])
