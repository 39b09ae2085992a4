"""The section on scaling of `docs/benchmarks.md`, made of what was measured."""

from __future__ import annotations

from pathlib import Path

from benchmarks._scaling import store
from benchmarks._scaling.growth import Growth, fitted
from benchmarks._scaling.store import FILE, Measured
from benchmarks._scaling.sweeps import SWEEPS, Sweep
from benchmarks._scaling.words import number, table

TEXT = Path(__file__).with_name("section.md")


def section(measured: Path) -> str:
    """`measured` is the folder with what was measured."""
    found = store.read(measured / FILE)
    return TEXT.read_text(encoding="utf-8").format(
        machine=found.about["machine"],
        quick=" --quick" if found.about["quick"] else "",
        repeats=found.about["repeats"],
        growths=_growths(found),
        sweeps="\n\n".join(_sweep(found, sweep) for sweep in SWEEPS),
        jobs=_jobs(found),
    )


def _growths(found: Measured) -> str:
    rows = []
    for sweep in SWEEPS:
        for variant in sweep.variants:
            points = found.of("sweep", sweep.name, variant)
            growth = fitted([row.at for row in points], [row.cpu_ns for row in points])
            rows.append(
                (
                    sweep.label,
                    variant,
                    f"{points[0].at:,.0f} to {points[-1].at:,.0f}",
                    f"{growth.exponent:.2f} ± {growth.half:.2f}",
                    f"{growth.residual:.0%}",
                    growth.words,
                    _law(growth),
                )
            )
    names = ("against", "", "from", "exponent", "residual", "growth", "CPU ns")
    return table(names, rows, left=2)


def _law(growth: Growth) -> str:
    if not growth.rate:
        return number(growth.fixed)
    size = "log n" if growth.words == "logarithmic" else "n"
    return f"{number(growth.fixed)} + {number(growth.rate)} · {size}"


def _sweep(found: Measured, sweep: Sweep) -> str:
    rows = []
    for variant in sweep.variants:
        for row in found.of("sweep", sweep.name, variant):
            least, most = row.spread
            wall = f"{number(row.ns)} ({number(least)} to {number(most)})"
            rows.append((variant, f"{row.at:,.0f}", wall, number(row.cpu_ns)))
    names = ("", sweep.label, "ns for an event", "CPU ns")
    return f"{sweep.label.capitalize()}: {sweep.fixed}.\n\n{table(names, rows)}"


def _jobs(found: Measured) -> str:
    rows = []
    for name in sorted({row.name for row in found.rows if row.kind == "job"}):
        if name.startswith("epochs"):
            continue
        for row in found.of("job", name):
            rates = [row.events / seconds for seconds in row.wall]
            spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
            rate = f"{1e9 / row.ns:,.0f} ({spread})"
            rows.append((name.removesuffix(" cores"), f"{row.at:,.0f}", rate, number(row.cpu_ns)))
    return table(("cores", "aggregators", "events a second", "CPU ns for an event"), rows, left=0)
