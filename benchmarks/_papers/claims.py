"""The claims of the papers, and what was measured for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks import _words as words
from benchmarks._papers.experiment import Claim, Experiment, Figure, Ratio, Value
from benchmarks._papers.store import Measured, Row
from runtime.errors import HamletError

OURS = "(ours) "


@dataclass(frozen=True)
class Line:
    """A row of the table of claims."""

    paper: str
    figure: str
    says: str
    measured: str
    why: str


def lines(experiments: Iterable[Experiment], measured: Measured) -> list[Line]:
    return [
        Line(each.paper, claim.figure, claim.says, told(each, claim, measured), claim.why)
        for each in experiments
        for claim in each.claims
    ]


def told(experiment: Experiment, claim: Claim, measured: Measured) -> str:
    """The measurement with its systems, because a claim may name them in the other order."""
    measure = claim.measure
    systems = f"{measure.of} / {measure.to}" if isinstance(measure, Ratio) else measure.of
    return f"`{systems}`: {said(experiment, claim, measured)}"


def source(claim: Claim) -> tuple[str, str]:
    """Who claims it, and what: some lines compare this engine with the papers' systems."""
    ours = claim.says.startswith(OURS)
    return ("In addition", claim.says.removeprefix(OURS)) if ours else ("The paper", claim.says)


def said(experiment: Experiment, claim: Claim, measured: Measured) -> str:
    """What was measured for a claim. A claim without a measurement is an error: it is written
    wrongly, or the measurements are of other experiments."""
    figure = next(each for each in experiment.figures if each.name == claim.figure)
    rows, label = measured.of(experiment.name, figure.sweep), experiment.sweeps[figure.sweep].label
    match claim.measure:
        case Ratio() as ratio:
            found = _ratio(ratio, rows, measured.limit, label)
        case Value() as value:
            found = _value(value, rows, label)
    if not found:
        raise HamletError(
            f"{claim.figure}: nothing was measured for the claim `{claim.says}`",
            f"{_statuses(claim.measure, rows)}; `hamlet bench papers --figure {claim.figure}`",
        )
    return found


def _statuses(measure: Ratio | Value, rows: Sequence[Row]) -> str:
    systems = {measure.of, measure.to if isinstance(measure, Ratio) else measure.of}
    told = [f"{row.system} at {row.x}: {row.status}" for row in rows if row.system in systems]
    return ", ".join(told) or "there are no rows of this sweep"


def _value(value: Value, rows: Sequence[Row], label: str) -> str:
    found = {row.x: row.shown(value.shows) for row in rows if row.system == value.of}
    ended = {x: each.median for x, each in found.items() if each is not None}
    if not ended:
        return ""
    x = (max if value.best == "most" else min)(ended, key=lambda x: ended[x])
    return f"{words.shown(ended[x], value.shows)} ({label}: {words.x(x)})"


def _ratio(ratio: Ratio, rows: Sequence[Row], limit: float, label: str) -> str:
    """A ratio with its points, which may differ from the paper's."""
    exact: dict[str, float] = {}
    bounds: dict[tuple[str, str], dict[str, float]] = {}
    for of, to in _pairs(ratio, rows):
        one, other = of.shown(ratio.shows), to.shown(ratio.shows)
        if one and other and other.median:
            exact[of.x] = one.median / other.median
        elif other and other.median and (bound := of.bound(ratio.shows, limit)):
            bounds.setdefault((bound[0], of.system), {})[of.x] = bound[1] / other.median
        elif one and (bound := to.bound(ratio.shows, limit)):
            bounds.setdefault((_OPPOSITE[bound[0]], to.system), {})[of.x] = one.median / bound[1]
    parts = []
    if exact:
        between = words.span(words.times(min(exact.values())), words.times(max(exact.values())))
        parts.append(f"{between} times ({label}: {_places(exact)})")
    for (which, late), each in sorted(bounds.items()):
        least = words.times((min if which == "more" else max)(each.values()))
        where = f"where {late} did not finish in {limit:g} s"
        parts.append(f"{which} than {least} times {where} ({label}: {_places(each)})")
    return "; ".join(parts + _failures(ratio, rows))


def _places(points: Iterable[str]) -> str:
    first, *_, last = list(points) * 2
    return words.span(words.x(first), words.x(last))


#: Dividing by a lower bound gives an upper bound, and the other way round.
_OPPOSITE = {"more": "less", "less": "more"}


def _pairs(ratio: Ratio, rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    by = {(row.x, row.system): row for row in rows}
    places = [(x, ratio.of, ratio.to) for x in dict.fromkeys(row.x for row in rows)]
    return [(by[x, of], by[x, to]) for x, of, to in places if (x, of) in by and (x, to) in by]


def _failures(ratio: Ratio, rows: Sequence[Row]) -> list[str]:
    """A failure of a system is a measurement, too."""
    failed = [row for row in rows if row.system in (ratio.of, ratio.to) and row.status == "failed"]
    return [f"{row.system} failed at {words.x(row.x)}: {row.reason}" for row in failed]


def of_figure(experiment: Experiment, figure: Figure) -> list[Claim]:
    return [claim for claim in experiment.claims if claim.figure == figure.name]
