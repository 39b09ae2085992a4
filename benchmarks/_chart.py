"""Draws a chart as SVG: the same bytes for the same data.

The chart is light on a dark page, too: an image cannot know which theme the reader has chosen.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

#: An axis is logarithmic from here on.
WIDE = 8.0
#: Powers of ten are too few ticks for a logarithmic axis that spans no more of them than this.
FEW_DECADES = 2.2
INK, PALE = "#333333", "#d9d9d9"

_STYLE: Any = {
    "svg.hashsalt": "hamlet",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": False,
    "path.simplify": False,
}

# In inches.
_WIDTH, _HEIGHT, _LEFT, _ACROSS = 6.4, 3.5, 0.84, 3.87
_TITLE_LINE, _CAPTION_LINE, _TICK_LINE = 0.19, 0.17, 0.14
_DIGIT = 0.08
_TITLE_LETTERS, _CAPTION_LETTERS = 66, 96


class Look(NamedTuple):
    colour: str
    marker: str


class Point(NamedTuple):
    """`low` and `high`: between what the repeats lie."""

    x: float
    y: float
    low: float
    high: float


class Beyond(NamedTuple):
    """Not measured: all that is known is that it is more than `y`, or less."""

    x: float
    y: float
    more: bool = True


@dataclass(frozen=True)
class Series:
    """With a `curve` points are not joined, it goes through them."""

    label: str
    look: Look
    points: Sequence[Point]
    beyond: Sequence[Beyond] = ()
    curve: Callable[[float], float] | None = None


@dataclass(frozen=True)
class Chart:
    """`names` are of the places on the x axis, `tick` is for values on the y axis, which is
    logarithmic if it is told so or if values differ widely. Points are not `joined` where places
    are words: there is nothing between these that a line could stand for."""

    title: str
    x: str
    y: str
    names: Mapping[float, str]
    tick: Callable[[float], str]
    series: Sequence[Series]
    caption: Sequence[str] = ()
    joined: bool = True
    log: bool = False


def svg(chart: Chart) -> bytes:
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):
        file = io.BytesIO()
        _canvas(chart).savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    # matplotlib ends some lines with blanks, which tools that look after text take away
    lines = file.getvalue().decode("utf-8").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines).encode("utf-8")


def _canvas(chart: Chart) -> Canvas:
    title = textwrap.wrap(chart.title, _TITLE_LETTERS)
    caption = [line for each in chart.caption for line in textwrap.wrap(each, _CAPTION_LETTERS)]
    names = _apart(chart.names)
    above = 0.23 + _TITLE_LINE * len(title)
    below = 0.12 + _CAPTION_LINE * len(caption)
    under = 0.5 + _TICK_LINE * max((name.count("\n") for name in names.values()), default=0)
    height = _HEIGHT - 0.92 + above + below + under
    canvas = Canvas(figsize=(_WIDTH, height), facecolor="white", edgecolor=PALE, linewidth=1.0)
    for place, line in enumerate(title):
        y = 1 - (0.26 + _TITLE_LINE * place) / height
        canvas.text(0.02, y, line, fontsize=10, weight="bold")
    for place, line in enumerate(caption, 1):
        y = (below - _CAPTION_LINE * place + 0.02) / height
        canvas.text(0.02, y, line, fontsize=8, style="italic", color="#555555")
    bottom, top = (below + under) / height, 1 - above / height
    axes = canvas.add_axes((_LEFT / _WIDTH, bottom, _ACROSS / _WIDTH, top - bottom))
    _Plot(axes, chart, names).draw()
    return canvas


class _Plot:
    def __init__(self, axes: Any, chart: Chart, names: Mapping[float, str]) -> None:
        self._axes, self._chart, self._names = axes, chart, names

    def draw(self) -> None:
        for each in self._chart.series:
            self._series(each)
        self._x_axis()
        self._y_axis()
        self._axes.grid(True, which="major", color=PALE, linewidth=0.6)
        self._axes.legend(
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            borderaxespad=0.0,
            frameon=False,
            fontsize=8,
            labelspacing=0.7,
        )

    def _series(self, each: Series) -> None:
        points = sorted(each.points)
        joined = self._chart.joined and each.curve is None
        self._axes.errorbar(
            [point.x for point in points],
            [point.y for point in points],
            yerr=[
                [point.y - point.low for point in points],
                [point.high - point.y for point in points],
            ],
            color=each.look.colour,
            marker=each.look.marker,
            markersize=5.5,
            linewidth=1.5 if joined else 0.0,
            elinewidth=1.0,
            capsize=2.5,
            label=each.label,
        )
        if each.curve is not None and points:
            xs = _between(points[0].x, points[-1].x)
            ys = [each.curve(x) for x in xs]
            self._axes.plot(xs, ys, "-", color=each.look.colour, lw=1.2, alpha=0.7)
        for beyond in each.beyond:
            self._beyond(beyond, each.look)
            before = [point for point in points if point.x < beyond.x]
            if before and self._chart.joined:
                self._towards(before[-1], beyond, each.look)

    def _beyond(self, at: Beyond, look: Look) -> None:
        """An open marker at the limit, and an arrow to where it would be."""
        self._axes.plot(
            [at.x], [at.y], look.marker, mfc="none", mec=look.colour, markersize=6.5, mew=1.4
        )
        self._axes.annotate(
            "",
            xy=(at.x, at.y),
            xytext=(0, 20 if at.more else -20),
            textcoords="offset points",
            arrowprops={"arrowstyle": "<-", "color": look.colour, "linewidth": 1.2, "shrinkB": 4},
        )

    def _towards(self, last: Point, at: Beyond, look: Look) -> None:
        """From where it ended last."""
        self._axes.plot([last.x, at.x], [last.y, at.y], ":", color=look.colour, lw=1.2)

    # ---- axes

    def _x_axis(self) -> None:
        axis = self._axes
        places = sorted(self._names)
        axis.set_xlabel(self._chart.x)
        if _wide(places):
            axis.set_xscale("log")
            edge = (places[-1] / places[0]) ** 0.06
            axis.set_xlim(places[0] / edge, places[-1] * edge)
        elif places:
            edge = (places[-1] - places[0]) * 0.06 or 0.5
            axis.set_xlim(places[0] - edge, places[-1] + edge)
        axis.set_xticks(places, [self._names[place] for place in places])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.tick_params(axis="x", which="minor", bottom=False)

    def _y_axis(self) -> None:
        axis = self._axes
        axis.set_ylabel(self._chart.y)
        values = list(self._values())
        if not values:
            axis.text(0.5, 0.5, "nothing to draw", transform=axis.transAxes, ha="center")
            axis.set_yticks([])
            return
        if min(values) > 0 and (self._chart.log or _wide(values)):
            self._logarithmic(values)
        else:
            axis.set_ylim(0, max(values) * 1.15 or 1.0)
        axis.yaxis.set_major_formatter(FuncFormatter(self._tick))

    def _tick(self, value: float, _: int) -> str:
        return self._chart.tick(value) if value else "0"

    def _logarithmic(self, values: Sequence[float]) -> None:
        low, high = math.log10(min(values)), math.log10(max(values))
        room = max(0.25, 0.1 * (high - low))
        axis = self._axes
        axis.set_yscale("log")
        axis.set_ylim(10 ** (low - room), 10 ** (high + room))
        subs = (1.0, 2.0, 5.0) if high - low + 2 * room < FEW_DECADES else (1.0,)
        axis.yaxis.set_major_locator(LogLocator(subs=subs, numticks=8))
        axis.yaxis.set_minor_formatter(NullFormatter())

    def _values(self) -> Iterable[float]:
        for each in self._chart.series:
            for point in each.points:
                yield from (point.low, point.high)
            for at in each.beyond:  # with room for its arrow
                yield at.y * (2.0 if at.more else 0.5)


def _wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) >= WIDE


def _between(first: float, last: float, points: int = 60) -> list[float]:
    spaced = np.geomspace if _wide((first, last)) else np.linspace
    return [float(x) for x in spaced(first, last, points)]


def _apart(names: Mapping[float, str]) -> dict[float, str]:
    """A name that would run into the one before it goes a line lower."""
    places = sorted(names)
    found = dict(names)
    scaled = [math.log(place) if _wide(places) else place for place in places]
    across = (scaled[-1] - scaled[0]) * 1.12 if len(scaled) > 1 else 1.0
    for (place, at), (following, after) in pairwise(zip(places, scaled, strict=True)):
        room = (after - at) / across * _ACROSS
        letters = [len(max(names[each].split("\n"), key=len)) for each in (place, following)]
        if room < _DIGIT * (sum(letters) / 2 + 1) and not found[place].startswith("\n"):
            found[following] = "\n" + found[following]
    return found
