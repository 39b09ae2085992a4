"""How cost grows: with partitions, queries, windows and patterns, and over actors and cores.

In one process, on one thread: nanoseconds per event against each size with everything else fixed,
over at least five values, with the exponent of a fitted power law and its 95 % confidence interval.
Points take turns. A turn that compiles does not count. The growth is that of CPU time, which equals
wall time on an idle machine and varies least on a busy one.

On Ray and Spark: events per second with 1, 2 and 4 aggregators on one and two cores, the CPU time
of each kind of process, and the cost of an almost empty epoch.

It also measures what the parts of a job cost and how many bytes they keep and send.
`docs/capacity.md` is computed from that. --output receives scaling.parquet (all measurements), a
plot per size with the fitted growth, and scaling.md with both.

HAMLET_BENCH_REPEATS (5) sets the number of repeats. --quick uses fewer events.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._environment import whole
from benchmarks._pages import pages
from benchmarks._run import one_thread
from benchmarks._scaling import parts, speedup, store, sweeps
from benchmarks._scaling.laws import growth_of
from benchmarks._scaling.store import Measured, Row

REPEATS = whole("REPEATS", 5)
OUTPUT = Path("build/scaling")
AGGREGATORS = {1: (1, 2), 2: (1, 2, 4)}  #: by cores
JOB_EVENTS, QUICK_JOB_EVENTS = 10_000_000, 1_000_000
EPOCHS, EPOCH_ROWS = 40, 1_000


def run(
    progress: Callable[[str], None], quick: bool = False, output: Path | None = None
) -> dict[str, Any]:
    page, folder = pages(), output or OUTPUT
    rows: list[Row] = []
    with one_thread():
        for sweep in sweeps.SWEEPS:
            progress(f"cost against {sweep.label}")
            rows += sweeps.measured(sweep, REPEATS, "quick" if quick else "full")
        progress("the parts of a job, each by itself")
        rows += parts.measured(parts.QUICK if quick else parts.FULL, REPEATS)
    rows += jobs(progress, QUICK_JOB_EVENTS if quick else JOB_EVENTS)
    measured = Measured(rows, store.about(repeats=REPEATS, quick=quick))
    store.write(measured, folder)
    page.scaling(folder, ".").write(folder, "scaling")
    progress(f"wrote scaling.parquet, scaling.md and the plots to {folder}")
    return figures(measured)


def jobs(progress: Callable[[str], None], events: int) -> list[Row]:
    from benchmarks import _pipeline as pipeline
    from benchmarks._scaling import job

    rows: list[Row] = []
    with pipeline.scratch() as scratch:
        progress(f"writing {events:,} events")
        large = pipeline.written(scratch / "events", events)
        small = pipeline.written(scratch / "small", EPOCHS * EPOCH_ROWS, file_rows=EPOCH_ROWS)
        for cores, aggregators in AGGREGATORS.items():
            if cores > (os.cpu_count() or 1):
                continue
            progress(f"a job on Ray and Spark, {cores} cores, {aggregators} aggregators")
            request = job.JobRequest(
                str(large.folder),
                large.workload.source.text,
                large.rows,
                str(small.folder),
                small.workload.source.text,
                cores,
                aggregators,
                REPEATS,
            )
            rows += job.in_process(request)
    return rows


def figures(measured: Measured) -> dict[str, Any]:
    """What is printed, under names."""
    found: dict[str, Any] = {}
    for row in measured.rows:
        name = "_".join(
            each.replace(" ", "_").replace(",", "")
            for each in (row.name, row.variant, f"{row.at:g}")
            if each
        )
        if row.value is not None:
            found[name] = {"value": row.value}
        else:
            least, most = row.spread
            found[name] = {"ns": row.ns, "least": least, "most": most, "cpu ns": row.cpu_ns}
    for sweep in sweeps.SWEEPS:
        for variant in sweep.variants:
            growth = growth_of(measured, sweep.name, variant)
            name = f"growth_{sweep.name}_{variant.replace(' ', '_')}"
            found[name] = {
                "exponent": growth.exponent,
                "half": growth.half,
                "residual": growth.residual,
                "words": growth.words,
            }
    return found | _speedup(measured)


def _speedup(measured: Measured) -> dict[str, Any]:
    fit = speedup.speedup(measured)
    if fit is None:
        return {}
    return {
        f"growth_throughput_{against}": {
            "exponent": exponent,
            "half": fit.halves[against],
            "residual": fit.law.residual,
            "words": speedup.words(exponent),
        }
        for against, exponent in fit.exponents.items()
    }


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [_line(name, found) for name, found in result.items()]


def _line(name: str, found: dict[str, Any]) -> dict[str, Any]:
    if "value" in found:
        return _cells(name, value=found["value"])
    if "exponent" in found:
        said = f"{found['words']} (± {found['half']:.2f})"
        return _cells(name, value=found["exponent"], note=said)
    spread = f"{found['least']:,.4g} to {found['most']:,.4g}"
    return _cells(name, value=found["ns"], cpu=found["cpu ns"], note=spread)


def _cells(name: str, value: float, cpu: float | str = "", note: str = "") -> dict[str, Any]:
    return {"measure": name, "value": value, "cpu": cpu, "spread or growth": note}
