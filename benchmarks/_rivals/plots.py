"""Plots time and memory of all systems, for each kind of query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from benchmarks import _words as words
from benchmarks._chart import Beyond, Chart, Look, Point, Series, svg
from benchmarks._rivals import store
from benchmarks._rivals.cases import CASES, Case
from benchmarks._rivals.measure import CANNOT, ENDED, MEMORY, NOT_ENDED
from benchmarks._rivals.systems import RIVALS

#: What a plot shows, by the end of its name.
SHOWN = {"time": "time", "memory": "memory (MB)"}

# Okabe and Ito's colours, which differ for the colour-blind.
LOOKS = {
    "hamlet": Look("#0072b2", "o"),
    "flink": Look("#d55e00", "v"),
    "esper": Look("#009e73", "D"),
    "spark-join": Look("#e69f00", "^"),
    "spark-window": Look("#000000", "s"),
    "duckdb-join": Look("#cc79a7", "<"),
    "duckdb-window": Look("#56b4e9", "P"),
}


_Row: TypeAlias = dict[str, Any]


def name(case: Case, shows: str) -> str:
    return f"rivals-{case.name}-{shows}.svg"


def plots(measured: Path) -> dict[str, bytes]:
    """By the name of a file."""
    rows, about = store.read(measured)
    return {
        name(case, shows): _drawn(case, shows, rows, about["effort"])
        for case in CASES
        for shows in SHOWN
    }


def _drawn(case: Case, shows: str, rows: Sequence[_Row], effort: dict[str, Any]) -> bytes:
    rows = [row for row in rows if row["case"] == case.name]
    systems = {name: [row for row in rows if row["system"] == name] for name in RIVALS}
    series = _time if shows == "time" else _memory
    return svg(
        Chart(
            title=f"{case.title}: {shows}",
            x=case.varies,
            y=SHOWN[shows],
            names={float(row["size"]): words.short(row["size"]) for row in rows},
            tick=_seconds if shows == "time" else words.short,
            series=[series(name, found, effort) for name, found in systems.items() if found],
            log=True,
        )
    )


def _seconds(value: float) -> str:
    return words.shown(value, "latency")


def _time(system: str, rows: Sequence[_Row], effort: dict[str, Any]) -> Series:
    points = [
        Point(row["size"], median(row["seconds"]), min(row["seconds"]), max(row["seconds"]))
        for row in rows
        if row["outcome"] == ENDED
    ]
    beyond = [Beyond(row["size"], effort["limit_s"]) for row in rows if row["outcome"] == NOT_ENDED]
    return Series(_entry(system, rows, effort), LOOKS[system], points, beyond)


def _memory(system: str, rows: Sequence[_Row], effort: dict[str, Any]) -> Series:
    """In the megabytes that Java's heap is told in."""
    points = [
        Point(row["size"], *[row["peak_bytes"] / 2**20] * 3)
        for row in rows
        if row["outcome"] == ENDED
    ]
    beyond = [Beyond(row["size"], effort["heap_mb"]) for row in rows if row["outcome"] == MEMORY]
    return Series(_entry(system, rows, effort), LOOKS[system], points, beyond)


def _entry(system: str, rows: Sequence[_Row], effort: dict[str, Any]) -> str:
    """Who is not to be seen at all points says why."""
    notes = {
        CANNOT: "cannot express it",
        NOT_ENDED: f"not ended in {effort['limit_s']:g} s",
        MEMORY: "out of memory",
    }
    outcomes = {row["outcome"] for row in rows}
    return "\n".join(
        [system, *(f"({note})" for outcome, note in notes.items() if outcome in outcomes)]
    )
