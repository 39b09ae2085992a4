"""Plots the cost of an event against each size, and throughput over actors and cores."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import _words as words
from benchmarks._chart import Chart, Look, Point, Series, svg
from benchmarks._scaling import store
from benchmarks._scaling.growth import Growth
from benchmarks._scaling.laws import growth_of, law
from benchmarks._scaling.speedup import Speedup, jobs, speedup
from benchmarks._scaling.speedup import words as grows
from benchmarks._scaling.store import FILE, Measured, Row
from benchmarks._scaling.sweeps import SWEEPS, Sweep
from hamlet.cli.stderr import pluralize

JOBS = "scaling-jobs.svg"
_LOOKS = (Look("#0072b2", "o"), Look("#d55e00", "s"), Look("#009e73", "D"), Look("#cc79a7", "^"))


def name(sweep: Sweep) -> str:
    return f"scaling-{sweep.name}.svg"


def plots(measured: Path) -> dict[str, bytes]:
    """By the name of a file."""
    found = store.read(measured / FILE)
    return {**{name(sweep): _sweep(found, sweep) for sweep in SWEEPS}, JOBS: _jobs(found)}


def _sweep(found: Measured, sweep: Sweep) -> bytes:
    rows = {variant: found.of("sweep", sweep.name, variant) for variant in sweep.variants}
    series = [
        _variant(variant, rows[variant], growth_of(found, sweep.name, variant), look)
        for variant, look in zip(rows, _LOOKS, strict=False)
    ]
    return svg(
        Chart(
            title=f"Cost of an event against {sweep.label}",
            x=sweep.label,
            y="CPU time for an event (ns)",
            names=_names([row for each in rows.values() for row in each]),
            tick=words.short,
            series=series,
            caption=[f"Fixed: {sweep.fixed.replace('`', '')}"],
        )
    )


def _variant(variant: str, rows: Sequence[Row], growth: Growth, look: Look) -> Series:
    label = "\n".join((variant, textwrap.fill(growth.words, 19), law(growth)))
    return Series(label, look, [_point(row.at, _cpu_ns(row)) for row in rows], curve=growth.at)


def _cpu_ns(row: Row) -> list[float]:
    return [each / row.events * 1e9 for each in row.cpu]


def _jobs(found: Measured) -> bytes:
    by_cores, fit = jobs(found), speedup(found)
    return svg(
        Chart(
            title="Throughput of a whole job against actors and cores",
            x="aggregators",
            y="events a second",
            names=_names([row for each in by_cores.values() for row in each]),
            tick=words.short,
            series=[
                _cores(cores, rows, fit, look)
                for (cores, rows), look in zip(by_cores.items(), _LOOKS, strict=False)
            ],
            caption=["Reading, routing and computing share the cores.", *_fitted(fit)],
        )
    )


def _cores(cores: int, rows: Sequence[Row], fit: Speedup | None, look: Look) -> Series:
    points = [_point(row.at, [row.events / each for each in row.wall]) for row in rows]
    curve = None if fit is None else partial(fit.at, cores)
    return Series(pluralize(cores, "core"), look, points, curve=curve)


def _fitted(fit: Speedup | None) -> list[str]:
    if fit is None:
        return []
    told = (
        f"{against}^{exponent:.2f} ({grows(exponent)})"
        for against, exponent in fit.exponents.items()
    )
    return [f"Fitted: in proportion to {' · '.join(told)}"]


def _point(x: float, values: Sequence[float]) -> Point:
    return Point(x, median(values), min(values), max(values))


def _names(rows: Sequence[Row]) -> dict[float, str]:
    return {row.at: words.short(row.at) for row in rows}
