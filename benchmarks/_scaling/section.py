"""The scaling section of `docs/benchmarks.md`, made from the measurements."""

from __future__ import annotations

from pathlib import Path

from benchmarks._scaling import plots, store
from benchmarks._scaling.laws import growth_of, law
from benchmarks._scaling.speedup import jobs, speedup, words
from benchmarks._scaling.store import FILE, Measured
from benchmarks._scaling.sweeps import SWEEPS, Sweep
from benchmarks._scaling.words import number, table

TEXT = Path(__file__).with_name("section.md")


def section(measured: Path, images: str) -> str:
    """`measured` is the folder of the measurements, `images` that of the plots."""
    found = store.read(measured / FILE)
    return TEXT.read_text(encoding="utf-8").format(
        machine=found.about["machine"],
        quick=" --quick" if found.quick else "",
        repeats=found.about["repeats"],
        growths=_growths(found),
        sweeps="\n\n".join(_sweep(found, sweep, images) for sweep in SWEEPS),
        jobs_plot=f"{images}/{plots.JOBS}",
        jobs=_jobs(found),
        speedup=_speedup(found),
    )


def _growths(found: Measured) -> str:
    rows = []
    for sweep in SWEEPS:
        for variant in sweep.variants:
            points = found.of("sweep", sweep.name, variant)
            growth = growth_of(found, sweep.name, variant)
            rows.append(
                (
                    sweep.label,
                    variant,
                    f"{points[0].at:,.0f} to {points[-1].at:,.0f}",
                    f"{growth.exponent:.2f} ± {growth.half:.2f}",
                    f"{growth.residual:.0%}",
                    growth.words,
                    law(growth),
                    f"{growth.away:.0%}, at {growth.worst:,.0f}",
                )
            )
    names = ("against", "", "from", "exponent", "residual", "growth", "CPU ns", "off by at most")
    return table(names, rows, left=2)


def _sweep(found: Measured, sweep: Sweep, images: str) -> str:
    rows = []
    for variant in sweep.variants:
        for row in found.of("sweep", sweep.name, variant):
            least, most = row.spread
            wall = f"{number(row.ns)} ({number(least)} to {number(most)})"
            rows.append((variant, f"{row.at:,.0f}", wall, number(row.cpu_ns)))
    names = ("", sweep.label, "ns per event", "CPU ns")
    return "\n\n".join(
        (
            f"### Cost against {sweep.label}",
            f"{sweep.fixed[0].upper()}{sweep.fixed[1:]}.",
            f"![CPU time per event over {sweep.label}]({images}/{plots.name(sweep)})",
            table(names, rows),
        )
    )


def _jobs(found: Measured) -> str:
    rows = []
    for cores, by_aggregators in jobs(found).items():
        for row in by_aggregators:
            rates = [row.events / seconds for seconds in row.wall]
            spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
            rate = f"{1e9 / row.ns:,.0f} ({spread})"
            rows.append((f"{cores}", f"{row.at:,.0f}", rate, number(row.cpu_ns)))
    return table(("cores", "aggregators", "events per second", "CPU ns per event"), rows, left=0)


def _speedup(found: Measured) -> str:
    fit = speedup(found)
    if fit is None:
        return "Measuring how throughput grows with cores needs more than one core."
    by_cores = jobs(found)
    aggregators = [row.at for rows in by_cores.values() for row in rows]
    sizes: dict[str, list[float]] = {"cores": [*by_cores], "aggregators": aggregators}
    rows = [
        (
            against,
            f"{min(values):,.0f} to {max(values):,.0f}",
            f"{fit.exponents[against]:.2f} ± {fit.halves[against]:.2f}",
            f"{number(2 ** fit.exponents[against])} times",
            words(fit.exponents[against]),
        )
        for against, values in sizes.items()
    ]
    law = " · ".join(f"{against}^{exponent:.2f}" for against, exponent in fit.exponents.items())
    said = (
        f"Fitted to the medians: {number(fit.law.factor)} · {law} events per second, with a "
        f"residual of {fit.law.residual:.0%}. The 95 % confidence intervals are wide, because "
        "there are few points."
    )
    names = ("against", "from", "exponent", "doubling gives", "throughput")
    return f"{said}\n\n{table(names, rows)}"
