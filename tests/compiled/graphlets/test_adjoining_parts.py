"""Several longer parts in one query, some of them side by side: events of the types in between, and
of those farther away, come at random."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from runtime.engine import Engine
from runtime.sharing.plan import Plan, SharedPart

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


def shared(run: str, names: list[str], text: str) -> SharedPart:
    steps = [(run[n], run[n + 1]) for n in range(len(run) - 1)]
    if f"SEQ({', '.join(run)}))+" in text:
        steps.append((run[-1], run[0]))
    return SharedPart(tuple(names), tuple(steps))


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


@pytest.mark.parametrize("seed", range(60))
def test_equals_the_exact_engine(seed: int) -> None:
    random = Random(seed)
    runs = cut(random)
    text, found = workload(random, runs)
    table = stream(random)
    plan = Plan(shared=tuple(shared(run, names, text) for run, names in found.items()))
    wanted = results(text, table, numeric="exact")
    got = results(text, table, plan=plan, kernels="general")
    assert got.keys() == wanted.keys()
    for name, rows in wanted.items():
        assert got[name] == rows, (name, text, plan)


def test_some_have_several() -> None:
    """Else nothing adjoins."""
    found = [workload(random, cut(random))[1] for random in map(Random, range(60))]
    assert sum(len(parts) > 1 for parts in found) > 30
