"""Numbers and tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def number(value: float) -> str:
    """Three digits: no measurement here has more."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")


def size(value: float) -> str:
    return _in(value, BYTES, "bytes")


def time(ns: float) -> str:
    return _in(ns, TIMES, "ns")


def _in(value: float, units: Sequence[tuple[float, str]], smallest: str) -> str:
    for unit, name in units:
        if value >= unit:
            return f"{number(value / unit)} {name}"
    return f"{number(value)} {smallest}"


def table(names: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """The first `left` columns are words, the others numbers."""
    rule = ["---"] * left + ["---:"] * (len(names) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *rows))
