"""Draws curves and bars as SVG; the style sheet of the page gives them their colours.

Axes start at zero. A missing value is a gap in the line. Every mark shows its numbers as a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from runtime.report.series import Series

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 28
TICKS = 4

Shown = Callable[[float], str]


def curves(
    what: str,
    seconds: Sequence[float],
    series: Sequence[Series],
    shown: Shown,
    at: Shown,
    steps: bool = False,
) -> str:
    """Draws lines over time. `shown` formats a value and `at` a time. With `steps` a value holds
    until the next one, as a version does."""
    values = [v for each in series for v in each.values if v is not None]
    if len(seconds) < 2 or not values:
        return _nothing(what)
    x, y = _time(seconds), _scale(0.0, max(values))
    body = [*_grid(y, shown), *_times(seconds, x, at)]
    for each in series:
        look = each.look or each.name
        for run in _runs(seconds, each.values):
            points = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in (_held(run) if steps else run))
            body.append(f'<polyline class="curve {look}" points="{points}"/>')
        for second, value in zip(seconds, each.values, strict=True):
            if value is not None:
                title = f"{each.name}: {shown(value)} at {at(second)}"
                body.append(_dot(look, x(second), y(value), title))
    return _framed(what, body) + _key(series)


def stacked(
    what: str, seconds: Sequence[float], series: Sequence[Series], shown: Shown, at: Shown
) -> str:
    """Draws bars over time, with series stacked on top of each other."""
    sums = [
        sum(v or 0.0 for v in row) for row in zip(*(each.values for each in series), strict=True)
    ]
    if len(seconds) < 2 or not any(sums):
        return _nothing(what)
    x, y = _time(seconds), _scale(0.0, max(sums))
    body = [*_grid(y, shown), *_times(seconds, x, at)]
    for n, second in enumerate(seconds):
        left = x(seconds[n - 1]) if n else x(second) - 2
        base = 0.0
        for each in series:
            value = each.values[n] or 0.0
            if value:
                high, low = y(base + value), y(base)
                title = f"{each.name}: {shown(value)} at {at(second)}"
                body.append(
                    _bar(each.look or each.name, left, high, x(second) - left, low - high, title)
                )
            base += value
    return _framed(what, body) + _key(series)


def columns(what: str, names: Sequence[str], values: Sequence[float], shown: Shown) -> str:
    """Draws one bar for each name, side by side."""
    if not any(values):
        return _nothing(what)
    y = _scale(0.0, max(values))
    wide = (WIDTH - LEFT - RIGHT) / len(names)
    body = _grid(y, shown)
    for n, (name, value) in enumerate(zip(names, values, strict=True)):
        left = LEFT + wide * n
        title = f"{name}: {shown(value)}"
        body.append(_bar("plain", left + 1, y(value), wide - 2, y(0.0) - y(value), title))
        middle = left + wide / 2
        body.append(_text(middle, HEIGHT - BOTTOM + 16, name, "middle"))
    return _framed(what, body)


# ---- scales --------------------------------------------------------------------------------


def _scale(low: float, high: float) -> Callable[[float], float]:
    top = ticks(low, high)[-1]
    height = HEIGHT - TOP - BOTTOM
    return lambda value: HEIGHT - BOTTOM - height * (value - low) / (top - low)


def _time(seconds: Sequence[float]) -> Callable[[float], float]:
    first, span = seconds[0], seconds[-1] - seconds[0] or 1.0
    return lambda second: LEFT + (WIDTH - LEFT - RIGHT) * (second - first) / span


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to at least `high`."""
    span = high - low
    if span <= 0 or not math.isfinite(span):
        return [low, low + 1.0]
    raw = span / TICKS
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= raw * (1 - 1e-9))
    return [low + step * n for n in range(math.ceil(span / step - 1e-9) + 1)]


def _runs(
    seconds: Sequence[float], values: Sequence[float | None]
) -> list[list[tuple[float, float]]]:
    """Pieces of the line between gaps."""
    found: list[list[tuple[float, float]]] = [[]]
    for second, value in zip(seconds, values, strict=True):
        if value is None:
            found.append([])
        else:
            found[-1].append((second, value))
    return [run for run in found if len(run) > 1]


def _held(run: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return run[:1] + [
        corner
        for (_, before), (second, value) in pairwise(run)
        for corner in ((second, before), (second, value))
    ]


# ---- elements ------------------------------------------------------------------------------


def _grid(y: Callable[[float], float], shown: Shown) -> list[str]:
    """Horizontal lines at round numbers."""
    high = (HEIGHT - BOTTOM - TOP) / (y(0.0) - y(1.0))
    body = []
    for tick in ticks(0.0, high):
        at = y(tick)
        body.append(f'<path class="grid" d="M{LEFT},{at:.1f} H{WIDTH - RIGHT}"/>')
        body.append(_text(LEFT - 6, at + 4, shown(tick), "end"))
    return body


def _times(seconds: Sequence[float], x: Callable[[float], float], at: Shown) -> list[str]:
    first, last = seconds[0], seconds[-1]
    body = []
    for n, anchor in enumerate(("start", "middle", "middle", "middle", "end")):
        second = first + (last - first) * n / 4
        body.append(_text(x(second), HEIGHT - BOTTOM + 16, at(second), anchor))
    return body


def _dot(look: str, x: float, y: float, title: str) -> str:
    title = escape(title)
    return f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="2"><title>{title}</title></circle>'


def _bar(look: str, x: float, y: float, width: float, height: float, title: str) -> str:
    return (
        f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" '
        f'height="{max(height, 0.5):.1f}"><title>{escape(title)}</title></rect>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _framed(what: str, body: Sequence[str]) -> str:
    inside = "\n".join(body)
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(what, quote=True)}">\n{inside}\n</svg>\n'
    )


def _key(series: Sequence[Series]) -> str:
    if len(series) < 2:
        return ""
    names = "".join(
        f'<li><svg class="plot key" viewBox="0 0 12 12" aria-hidden="true">'
        f'<rect class="{each.look or each.name}" width="12" height="12"/></svg>'
        f"{escape(each.name)}</li>"
        for each in series
    )
    return f'<ul class="keys">{names}</ul>\n'


def _nothing(what: str) -> str:
    return f'<p class="none">{escape(what)}: nothing was measured.</p>\n'
