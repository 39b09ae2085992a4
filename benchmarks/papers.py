"""The experiments of the papers: every figure, with the systems that the papers compare with.

`--figure hamlet-9a` (a figure), `hamlet-9` (a family) or `hamlet` (a paper) runs a part, and can be
repeated. `--quick` uses smaller streams and a shorter limit per run. `--output` receives
papers.parquet (all measurements, with machine and versions), a plot per figure, and papers.md with
the plots next to the papers' claims. With `--figure`, existing measurements of other figures stay.

Each system runs in its own process, on one thread; see `_papers/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import _words as words
from benchmarks._pages import pages
from benchmarks._papers import claims, experiment
from benchmarks._papers.experiment import Experiment
from benchmarks._papers.measure import FULL, QUICK, Mode, WorkerPool, measured, points
from benchmarks._papers.store import Measured, Row, about, differ, read, write
from benchmarks._papers.worker import MEMORY_BYTES
from hamlet.cli.progress import StepProgress
from runtime.errors import HamletError

OUTPUT = Path("build/papers")


def run(
    progress: StepProgress, figure: Sequence[str] = (), quick: bool = False, output: Path = OUTPUT
) -> dict[str, Any]:
    page, mode, path = pages(), QUICK if quick else FULL, output / "papers.parquet"
    readable, wrong = experiment.readable()
    chosen = experiment.chosen(readable, figure, wrong)
    before = earlier(path, mode) if figure else None
    found = measure(chosen, mode, progress, WorkerPool())
    whole = before.with_(found) if before else found
    write(path, whole)
    shown = experiment.drawn_from(readable, whole.sweeps)
    page.papers(shown, whole, ".").write(output, "papers")
    progress(f"wrote papers.parquet, papers.md and the plots to {output}")
    return result(chosen, found)


def earlier(path: Path, mode: Mode) -> Measured | None:
    """Measurements of other figures, beside which those of some are put. All of them are told to
    have come about in one way, so that they must have."""
    if not path.exists():
        return None
    found = read(path)
    different = differ(_about(mode), found.about)
    if different:
        raise HamletError(
            f"{path} holds measurements with another {', '.join(different)}",
            "choose another --output, or measure all figures",
        )
    return found


def _about(mode: Mode) -> dict[str, Any]:
    return about(mode.name, mode.limit, MEMORY_BYTES, mode.repeats)


def measure(
    chosen: Sequence[Experiment], mode: Mode, progress: StepProgress, pool: WorkerPool
) -> Measured:
    rows: list[Row] = []
    progress.begin(points(chosen, mode))
    with pool:
        for each in chosen:
            progress.now(f"{each.name}: compiling")
            rows += measured(each, mode, pool, lambda found: progress.done(_told(found)))
    return Measured(tuple(rows), _about(mode))


def _told(rows: Sequence[Row]) -> str:
    """A point in a line."""
    first = rows[0]
    systems = []
    for row in rows:
        time = row.shown("latency")
        said = row.status if time is None else words.shown(time.median, "latency")
        systems.append(f"{row.system} {said}")
    return f"{first.experiment}, {first.sweep} {words.x(first.x)}: {', '.join(systems)}"


def result(chosen: Sequence[Experiment], found: Measured) -> dict[str, Any]:
    return {
        **found.about,
        "rows": [asdict(row) for row in found.rows],
        "claims": [asdict(line) for line in claims.lines(chosen, found)],
        "figures": [
            {
                "figure": figure.name,
                "x": row.x,
                "system": row.system,
                figure.shows: shown.median if (shown := row.shown(figure.shows)) else row.status,
            }
            for each in chosen
            for figure in each.figures
            for row in found.of(each.name, figure.sweep)
        ],
    }


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Claims; of figures of which the paper claims nothing, what they show."""
    if result["claims"]:
        return [
            {"figure": each["figure"], "the paper": each["says"], "measured": each["measured"]}
            for each in result["claims"]
        ]
    return [_plain(each) for each in result["figures"]]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    figure, x, system, (shows, value) = row["figure"], row["x"], row["system"], list(row.items())[3]
    said = value if isinstance(value, str) else words.shown(value, shows)
    return {"figure": figure, "x": x, "system": system, "shows": shows, "median": said}
