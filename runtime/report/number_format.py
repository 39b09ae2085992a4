"""Formats numbers, times and sizes for people."""

from __future__ import annotations


def count(value: float) -> str:
    return f"{value:,.0f}"


def number(value: float) -> str:
    if value == 0 or abs(value) >= 10:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.1f}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    if value == 0:
        return "0 s"
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


def nanoseconds(value: float) -> str:
    if abs(value) < 1e4:
        return f"{value:,.0f} ns"
    return f"-{seconds(-value / 1e9)}" if value < 0 else seconds(value / 1e9)


def at(value: float) -> str:
    """Time since the start of a run."""
    if value < 60:
        return f"{value:.1f} s"
    whole = round(value)
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"


def size(value: float) -> str:
    for unit, large in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= large:
            return f"{value / large:,.1f} {unit}"
    return f"{value:,.0f} B"
