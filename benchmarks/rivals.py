"""Other systems: Flink CEP, Esper, Spark SQL and DuckDB compared with this engine.

All systems get the same events and must give the same answers. Each uses one thread, and a process
per kind of query. Times run from events in memory to the last answer, after warming up until they
settle. A system that exceeds its time limit or 2 GB is marked and skips larger sizes. `--output`
receives rivals.parquet (all measurements), plots of time and memory, and rivals.md with both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._pages import pages
from benchmarks._rivals import store
from benchmarks._rivals.cases import CASES, Case
from benchmarks._rivals.measure import (
    ENDED,
    MEMORY,
    NOT_ENDED,
    NOT_TRIED,
    Effort,
    Measured,
    WorkerPool,
)
from benchmarks._rivals.systems import RIVALS

OUTPUT = Path("build/rivals")
FULL = Effort()
QUICK = replace(FULL, limit_s=5.0, warm_s=1.0, java_warm_s=6.0)


def run(
    progress: Callable[[str], None], quick: bool = False, output: Path | None = None
) -> dict[str, Any]:
    page, folder = pages(), output or OUTPUT
    effort = QUICK if quick else FULL
    rows = [
        row
        for case in CASES
        for row in sweep(case, case.quick if quick else case.sizes, effort, progress)
    ]
    path = store.write(rows, effort, quick, folder)
    page.rivals(folder, ".").write(folder, "rivals")
    progress(f"wrote rivals.parquet, rivals.md and the plots to {folder}")
    return {"written": str(path), "rows": rows}


def sweep(
    case: Case,
    sizes: Iterable[int],
    effort: Effort,
    progress: Callable[[str], None],
    systems: Iterable[str] = tuple(RIVALS),
) -> list[dict[str, Any]]:
    """From small to large. Who gave up at a point is not tried at the next."""
    gave_up: dict[str, int] = {}
    rows = []
    with WorkerPool(effort) as pool:
        for size in sizes:
            job = case.job(size)
            trying = [name for name in systems if name not in gave_up]
            told = f"{case.title}, {size:,} {case.varies}"
            found = pool.measure(job, trying, _beginning(told, progress))
            gave_up |= {each.system: size for each in found if each.outcome in (NOT_ENDED, MEMORY)}
            found += [_not_tried(name, gave_up[name]) for name in systems if name not in trying]
            about = {"case": case.name, "size": size, "events": job.table.num_rows}
            rows += [{**about, "queries": len(job.queries), **asdict(each)} for each in found]
    return rows


def _beginning(told: str, progress: Callable[[str], None]) -> Callable[[str], None]:
    return lambda line: progress(f"{told}: {line}")


def _not_tried(system: str, size: int) -> Measured:
    return Measured(system, NOT_TRIED, f"it gave up at {size:,}")


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [_shown(row) for row in result["rows"]]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    ended = row["outcome"] == ENDED
    seconds = row["seconds"]
    return {
        "case": row["case"],
        "size": row["size"],
        "system": row["system"],
        "ms": f"{1e3 * median(seconds):,.3g}" if ended else row["outcome"],
        "from": f"{1e3 * min(seconds):,.3g}" if ended else "",
        "to": f"{1e3 * max(seconds):,.3g}" if ended else "",
        "cpu ms": f"{1e3 * median(row['cpu_seconds']):,.3g}" if ended else "",
        "peak MB": f"{row['peak_bytes'] / 2**20:,.0f}" if row["peak_bytes"] else "",
        "why": row["reason"],
    }
