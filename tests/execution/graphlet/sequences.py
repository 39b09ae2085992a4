"""Random workloads of sequences with parts in common, streams for them, and their results."""

from random import Random

import numpy as np
import pyarrow as pa

from runtime.pipeline.engine import Engine

TYPES = "ABCDEFGHIJ"
EVENTS = 120


def cut(random: Random) -> list[str]:
    """The types in runs; every run of two or more is to be a part."""
    runs, rest = [], TYPES
    while rest:
        size = random.randint(1, 4)
        runs.append(rest[:size])
        rest = rest[size:]
    return runs


def workload(random: Random, runs: list[str]) -> tuple[str, dict[str, list[str]]]:
    """Queries of some of the runs, each as a sequence or as a loop, the same one in all queries."""
    looped = {run: random.random() < 0.3 for run in runs}
    parts: dict[str, list[str]] = {run: [] for run in runs if len(run) > 1}
    texts = []
    for number in range(random.randint(2, 6)):
        chosen = [run for run in runs if random.random() < 0.8] or runs[:1]
        written = [_written(run, looped[run]) for run in chosen]
        name, last = f"q{number}", chosen[-1][-1]
        for run in chosen:
            if run in parts:
                parts[run].append(name)
        window = random.choice(
            ["WITHIN 40 ms", "WITHIN 40 ms SLIDE 10 ms", "WITHIN 25 ms SLIDE 5 ms"]
        )
        texts.append(
            f"QUERY {name} RETURN k, COUNT(*), SUM({last}.x), MIN({last}.x) "
            f"PATTERN SEQ({', '.join(written)}) GROUP-BY k {window}"
        )
    return "\n".join(texts), {run: names for run, names in parts.items() if len(names) > 1}


def _written(run: str, looped: bool) -> str:
    inner = f"SEQ({', '.join(run)})" if len(run) > 1 else run
    return f"({inner})+" if looped else ", ".join(run)


def stream(random: Random) -> pa.Table:
    """With few ties, so that most events find parts that are under way."""
    times = np.cumsum([random.random() < 0.95 for _ in range(EVENTS)])
    return pa.table(
        {
            "time": times,
            "type": [random.choice(TYPES) for _ in range(EVENTS)],
            "k": [random.randint(0, 1) for _ in range(EVENTS)],
            "x": [float(random.randint(-5, 5)) for _ in range(EVENTS)],
        }
    )


def results(text: str, table: pa.Table, **options: object) -> dict[str, list[dict[str, float]]]:
    engine = Engine(text, time_unit="ms", **options)  # type: ignore[arg-type]
    engine.process(table)
    rows = {name: found.to_pylist() for name, found in engine.finish().items()}
    return {name: [_doubles(row) for row in found] for name, found in rows.items()}


def _doubles(row: dict[str, object]) -> dict[str, float]:
    return {
        name: float(value) for name, value in row.items() if isinstance(value, str | int | float)
    }
