"""Draws one plot per figure of the papers. A system looks the same in all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from benchmarks import _words as words
from benchmarks._chart import Beyond, Chart, Look, Point, Series, svg
from benchmarks._papers.claims import of_figure, source
from benchmarks._papers.experiment import Experiment, Figure
from benchmarks._papers.store import Measured, Row

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
    "a-seq-start": Look("#44aa99", "o"),
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


def plots(chosen: Iterable[Experiment], measured: Measured) -> dict[str, bytes]:
    """By the name of a file."""
    return {
        f"{figure.name}.svg": drawn(each, figure, measured)
        for each in chosen
        for figure in each.figures
    }


def drawn(experiment: Experiment, figure: Figure, measured: Measured) -> bytes:
    rows = measured.of(experiment.name, figure.sweep)
    xs = list(dict.fromkeys(row.x for row in rows))
    places = {x: _place(x, xs) for x in xs}
    shows = _Shows(figure.shows, measured.limit, places)
    return svg(
        Chart(
            title=f"{figure.title}: {experiment.title}",
            x=experiment.sweeps[figure.sweep].label,
            y=words.axis(figure.shows),
            names={place: _name(x) for x, place in places.items()},
            tick=lambda value: words.tick(value, figure.shows),
            series=[
                shows.series(system, [row for row in rows if row.system == system])
                for system in experiment.systems
            ],
            caption=[": ".join(source(claim)) for claim in of_figure(experiment, figure)],
            joined=all(words.numeric(x) is not None for x in xs),
        )
    )


def _place(x: str, xs: Sequence[str]) -> float:
    """Words stand beside each other."""
    number = words.numeric(x)
    return float(xs.index(x)) if number is None else number


def _name(x: str) -> str:
    number = words.numeric(x)
    return textwrap.fill(x, 12, break_long_words=False) if number is None else words.short(number)


class _Shows:
    """What a figure shows of a system."""

    def __init__(self, what: str, limit: float, places: dict[str, float]) -> None:
        self._what, self._limit, self._places = what, limit, places

    def series(self, system: str, rows: Sequence[Row]) -> Series:
        points = [
            Point(self._places[row.x], *each)
            for row in rows
            if (each := row.shown(self._what)) is not None
        ]
        beyond = [
            Beyond(self._places[row.x], bound[1], more=bound[0] == "more")
            for row in rows
            if (bound := row.bound(self._what, self._limit)) is not None
        ]
        label = self._entry(system, rows, bool(points))
        return Series(label, LOOKS.get(system, _OTHER), points, beyond)

    def _entry(self, system: str, rows: Sequence[Row], seen: bool) -> str:
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
        if not notes and not seen:
            notes = ["has no such figure"]
        return "\n".join([system, *(f"({note})" for note in notes)])
