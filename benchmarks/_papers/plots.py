"""A plot for each figure, as SVG: the same bytes for the same measurements.

A system looks the same in all of them. Its card is light in a dark page, too: an image cannot ask
which of both a reader has chosen.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

from benchmarks._papers import words
from benchmarks._papers.claims import of_figure, source
from benchmarks._papers.experiment import Experiment, Figure
from benchmarks._papers.store import Measured, Row

#: An axis is logarithmic from here on.
WIDE = 8.0
INK, PALE = "#333333", "#d9d9d9"


class Look(NamedTuple):
    colour: str
    marker: str


# Okabe and Ito's colours, which differ for the colour-blind, and some of Paul Tol's; markers differ
# where a colour recurs, which is between a system and its planner.
LOOKS = {
    "hamlet": Look("#0072b2", "o"),
    "hamlet-static": Look("#56b4e9", "s"),
    "hamlet-not-shared": Look("#777777", "d"),
    "greta": Look("#e69f00", "^"),
    "cogra": Look("#009e73", "D"),
    "sase": Look("#d55e00", "v"),
    "a-seq": Look("#cc79a7", "P"),
    "sharon": Look("#882255", "X"),
    "mcep": Look("#000000", "*"),
    "gloria": Look("#332288", "p"),
    "greedy": Look("#999933", "h"),
    "sharon-plan": Look("#aa4499", "<"),
    "plan-sharon": Look("#882255", "<"),
    "plan-gwmin": Look("#cc79a7", ">"),
    "plan-exhaustive": Look("#d55e00", "v"),
    "plan-gloria": Look("#332288", "p"),
    "plan-gloria-noprune": Look("#0072b2", "s"),
    "plan-greedy": Look("#999933", "h"),
}
_OTHER = Look("#555555", "o")

_STYLE: dict[str, Any] = {
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
_WIDTH, _HEIGHT, _CAPTION_LINE = 6.4, 3.5, 0.17


def write(folder: Path, experiment: Experiment, figure: Figure, measured: Measured) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{figure.name}.svg"
    path.write_bytes(drawn(experiment, figure, measured))
    return path


def drawn(experiment: Experiment, figure: Figure, measured: Measured, kind: str = "svg") -> bytes:
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):
        canvas = _canvas(experiment, figure, measured)
        file = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {}
        canvas.savefig(file, format=kind, dpi=120, metadata=metadata)
    if kind != "svg":
        return file.getvalue()
    # matplotlib ends some lines with blanks, which tools that look after text take away
    lines = file.getvalue().decode("utf-8").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines).encode("utf-8")


def _canvas(experiment: Experiment, figure: Figure, measured: Measured) -> Canvas:
    caption = _caption(experiment, figure)
    below = 0.12 + _CAPTION_LINE * len(caption)
    height = _HEIGHT + below
    canvas = Canvas(figsize=(_WIDTH, height), facecolor="white", edgecolor=PALE, linewidth=1.0)
    bottom, top = (below + 0.5) / height, 1 - 0.42 / height
    axes = canvas.add_axes((0.115, bottom, 0.62, top - bottom))
    title = textwrap.shorten(f"{figure.title}: {experiment.title}", 80, placeholder=" …")
    canvas.text(0.02, 1 - 0.26 / height, title, fontsize=10, weight="bold")
    for place, line in enumerate(caption, 1):
        y = (below - _CAPTION_LINE * place + 0.02) / height
        canvas.text(0.02, y, line, fontsize=8, style="italic", color="#555555")
    rows = measured.of(experiment.name, figure.sweep)
    _Plot(axes, experiment, figure, rows, measured.limit).draw()
    return canvas


def _caption(experiment: Experiment, figure: Figure) -> list[str]:
    said = [source(claim) for claim in of_figure(experiment, figure)]
    text = [textwrap.wrap(": ".join(each), 96) for each in said]
    return [line for lines in text for line in lines]


class _Plot:
    def __init__(
        self, axes: Any, experiment: Experiment, figure: Figure, rows: Sequence[Row], limit: float
    ) -> None:
        self._axes, self._rows, self._limit = axes, rows, limit
        self._systems = experiment.systems
        self._shows = figure.shows
        self._label = experiment.sweeps[figure.sweep].label
        self._xs = list(dict.fromkeys(row.x for row in rows))

    def draw(self) -> None:
        for system in self._systems:
            self._system(system, [row for row in self._rows if row.system == system])
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

    def _system(self, system: str, rows: Sequence[Row]) -> None:
        look = LOOKS.get(system, _OTHER)
        ended = [(row.x, each) for row in rows if (each := row.shown(self._shows)) is not None]
        ended.sort(key=lambda pair: self._place(pair[0]))
        values = [each for _, each in ended]
        self._axes.errorbar(
            [self._place(x) for x, _ in ended],
            [each.median for each in values],
            yerr=[
                [each.median - each.low for each in values],
                [each.high - each.median for each in values],
            ],
            color=look.colour,
            marker=look.marker,
            markersize=5.5,
            # between words there is nothing that a line could stand for
            linewidth=1.5 if all(words.numeric(x) is not None for x in self._xs) else 0.0,
            elinewidth=1.0,
            capsize=2.5,
            label=self._entry(system, rows),
        )
        for row in rows:
            if (bound := row.bound(self._shows, self._limit)) is not None:
                self._beyond(self._place(row.x), *bound, look)
                before = [(self._place(x), each.median) for x, each in ended]
                self._towards(before, self._place(row.x), bound[1], look)

    def _beyond(self, x: float, which: str, y: float, look: Look) -> None:
        """Did not end: an open marker at the limit, and an arrow to where it would be."""
        self._axes.plot(
            [x], [y], look.marker, mfc="white", mec=look.colour, markersize=6.5, mew=1.4
        )
        self._axes.annotate(
            "",
            xy=(x, y),
            xytext=(0, 20 if which == "more" else -20),
            textcoords="offset points",
            arrowprops={"arrowstyle": "<-", "color": look.colour, "linewidth": 1.2, "shrinkB": 4},
        )

    def _towards(self, ended: list[tuple[float, float]], x: float, y: float, look: Look) -> None:
        """From where it ended last."""
        before = [each for each in ended if each[0] < x and words.numeric(self._xs[0]) is not None]
        if before:
            self._axes.plot([before[-1][0], x], [before[-1][1], y], ":", color=look.colour, lw=1.2)

    def _entry(self, system: str, rows: Sequence[Row]) -> str:
        """Who is not to be seen at all points says why."""
        statuses = {row.status for row in rows}
        notes = [
            note
            for status, note in (
                ("cannot", "cannot express it"),
                ("not ended", f"not ended in {self._limit:g} s"),
                ("failed", "failed"),
            )
            if status in statuses
        ]
        if not notes and not any(row.shown(self._shows) for row in rows):
            notes = ["has no such figure"]
        return "\n".join([system, *(f"({note})" for note in notes)])

    # ---- axes

    def _place(self, x: str) -> float:
        """Words stand beside each other."""
        number = words.numeric(x)
        return float(self._xs.index(x)) if number is None else number

    def _x_axis(self) -> None:
        axis = self._axes
        places = sorted(map(self._place, self._xs))
        axis.set_xlabel(self._label)
        if places and places[0] > 0 and places[-1] / places[0] >= WIDE:
            axis.set_xscale("log")
            edge = (places[-1] / places[0]) ** 0.06
            axis.set_xlim(places[0] / edge, places[-1] * edge)
        elif places:
            edge = (places[-1] - places[0]) * 0.06 or 0.5
            axis.set_xlim(places[0] - edge, places[-1] + edge)
        names = {self._place(x): _short(x) for x in self._xs}
        axis.set_xticks(places, [names[place] for place in places])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.tick_params(axis="x", which="minor", bottom=False)

    def _y_axis(self) -> None:
        axis = self._axes
        axis.set_ylabel(words.axis(self._shows))
        values = self._values()
        if not values:
            axis.text(0.5, 0.5, "nothing to draw", transform=axis.transAxes, ha="center")
            axis.set_yticks([])
        elif min(values) > 0 and max(values) / min(values) >= WIDE:
            low, high = math.log10(min(values)), math.log10(max(values))
            room = max(0.25, 0.1 * (high - low))
            axis.set_yscale("log")
            axis.set_ylim(10 ** (low - room), 10 ** (high + room))
            axis.yaxis.set_major_locator(LogLocator(numticks=8))
            axis.yaxis.set_minor_formatter(NullFormatter())
            axis.yaxis.set_major_formatter(FuncFormatter(_power))
        else:
            axis.set_ylim(0, max(values) * 1.15 or 1.0)
            axis.yaxis.set_major_formatter(EngFormatter(sep=" "))

    def _values(self) -> list[float]:
        found: list[float] = []
        for row in self._rows:
            if (each := row.shown(self._shows)) is not None:
                found += [each.low, each.high]
            if (bound := row.bound(self._shows, self._limit)) is not None:
                found.append(bound[1] * (2.0 if bound[0] == "more" else 0.5))
        return found


def _short(x: str) -> str:
    """Ten thousands and more as 10k, since ticks have little room."""
    number = words.numeric(x)
    if number is None:
        return textwrap.fill(x, 12, break_long_words=False)
    for least, name in ((1e6, "M"), (1e4, "k")):
        if abs(number) >= least:
            scale = 1e6 if name == "M" else 1e3
            return f"{number / scale:g}{name}"
    return f"{number:g}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power(value: float, _: int) -> str:
    exponent = round(math.log10(value))
    return f"{value:g}" if abs(exponent) <= 3 else f"10{str(exponent).translate(_RAISED)}"
