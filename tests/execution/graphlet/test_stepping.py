"""Sequences and nested Kleene patterns in one group: steps of many queries in one loop, over all
open windows. Against the exact engine, to the last bit below 2^53."""

import math
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from execution.graphlet.sequences import results
from runtime.execution.operators.graphlet import batch_order
from runtime.language.parser import parse
from runtime.pipeline.engine import Engine
from runtime.plan.sharing_plan import SharingPlan

TYPES = "ABCDEFGH"
KLEENE = ("{}+", "(SEQ({}, {}))+", "(SEQ({}, {}+))+", "(SEQ({}, (SEQ({}, {}))+))+")
WINDOWS = (
    "WITHIN 40 ms",
    "WITHIN 40 ms SLIDE 10 ms",
    "WITHIN 25 ms SLIDE 10 ms",
    "WITHIN 60 ms SLIDE 5 ms",
)
COUNTED = ("WITHIN 30 events", "WITHIN 30 events SLIDE 10 events")


def workload(random: Random, counted: bool) -> str:
    """Queries that have stretches of one order of types, so that they are often side by side."""
    texts = []
    for number in range(random.randint(2, 12)):
        types = random.sample(TYPES, random.randint(2, 6))
        if random.random() < 0.7:
            types.sort()
        body = [*types]
        if random.random() < 0.3:
            form = random.choice([form for form in KLEENE if form.count("{}") <= len(types)])
            size = form.count("{}")
            at = random.randint(0, len(types) - size)
            body[at : at + size] = [form.format(*types[at : at + size])]
        one, last = random.choice(types), types[-1]
        returns = random.choice(
            (
                "COUNT(*)",
                f"COUNT(*), SUM({last}.x)",
                f"COUNT(*), AVG({one}.x), SUM({last}.y)",
                f"MIN({one}.x), MAX({last}.x)",
                f"COUNT({one}), SUM({one}.x), MIN({last}.y)",
            )
        )
        picked = f"WHERE {one}.x < {random.randint(-3, 5)}" if random.random() < 0.25 else ""
        window = random.choice(COUNTED if counted else WINDOWS)
        texts.append(
            f"QUERY q{number} RETURN k, {returns} PATTERN SEQ({', '.join(body)}) {picked} "
            f"GROUP-BY k {window}"
        )
    return "\n".join(texts)


def stream(random: Random, events: int = 250) -> pa.Table:
    """With ties, bursts, gaps in which windows end, and values that are not there."""
    times = np.cumsum([random.choice((0, 1, 1, 1, 1, 1, 1, 1, 1, 30)) for _ in range(events)])
    types: list[str] = []
    while len(types) < events:
        types += random.choice(TYPES) * random.choice((1, 1, 1, 2, 5))
    values = [None, *(float(n) for n in range(-5, 6))]
    return pa.table(
        {
            "time": times,
            "type": types[:events],
            "k": [random.randint(0, 2) for _ in range(events)],
            "x": [random.choice(values) for _ in range(events)],
            "y": [random.choice(values) for _ in range(events)],
        }
    )


def one_group(text: str) -> SharingPlan:
    return SharingPlan(groups=(tuple(query.name for query in parse(text)),))


def assert_same(found: dict, wanted: dict) -> None:
    assert found.keys() == wanted.keys()
    for name, rows in wanted.items():
        assert len(found[name]) == len(rows)
        for one, other in zip(found[name], rows, strict=True):
            assert one.keys() == other.keys()
            for column, value in other.items():
                exact = value.is_integer() and abs(value) < 2**53
                assert one[column] == value or (
                    not exact and math.isclose(one[column], value, rel_tol=1e-9)
                ), f"{name}: {column}"


@pytest.mark.parametrize("seed", range(60))
def test_equals_the_exact_engine(seed: int) -> None:
    random = Random(seed)
    text, table = workload(random, counted=seed % 6 == 5), stream(random)
    plan = one_group(text)
    found = results(text, table, plan=plan, numeric="float", kernels="general")
    assert_same(found, results(text, table, numeric="exact"))


@pytest.mark.parametrize("seed", range(20))
def test_by_partitions_and_with_plans_that_change(seed: int, monkeypatch) -> None:
    """Events are taken partition by partition, and state moves between groups and checkpoints."""
    monkeypatch.setattr(batch_order, "CACHE_BYTES", 0)
    monkeypatch.setattr(batch_order, "SMALL_ROW", 0)
    random = Random(1_000 + seed)
    text, table = workload(random, counted=False), stream(random)
    together, apart = one_group(text), SharingPlan(groups=tuple((q.name,) for q in parse(text)))
    options = {"time_unit": "ms", "numeric": "float", "kernels": "general"}
    engine = Engine(text, plan=together, **options)
    found: dict[str, list[dict]] = {}

    def keep(tables: dict[str, pa.Table]) -> None:
        for name, rows in tables.items():
            found.setdefault(name, []).extend(rows.to_pylist())

    cuts = sorted(random.sample(range(table.num_rows), 4))
    for n, (start, stop) in enumerate(zip([0, *cuts], [*cuts, table.num_rows], strict=True)):
        keep(engine.process(table.slice(start, stop - start)))
        if n % 2:
            engine.set_plan(apart if n == 1 else together)
        else:
            saved, engine = engine.checkpoint(), Engine(text, plan=together, **options)
            engine.restore(saved)
    keep(engine.finish())
    whole = Engine(text, plan=apart, **options)
    whole.process(table)
    wanted = {name: rows.to_pylist() for name, rows in whole.finish().items() if rows.num_rows}
    assert {name: sorted(map(str, rows)) for name, rows in found.items() if rows} == {
        name: sorted(map(str, rows)) for name, rows in wanted.items()
    }


BIG = """
QUERY q1 RETURN COUNT(*), SUM(C.x) PATTERN SEQ(A+, B, C, D) WITHIN 10000 ms SLIDE 5000 ms
QUERY q2 RETURN COUNT(*), AVG(D.x) PATTERN SEQ(A+, B, C, D) WITHIN 10000 ms SLIDE 5000 ms
QUERY q3 RETURN COUNT(*), SUM(D.x) PATTERN SEQ(B, C, D) WITHIN 10000 ms SLIDE 5000 ms
QUERY q4 RETURN COUNT(*), MIN(D.x) PATTERN SEQ(A, C, D) WITHIN 10000 ms
"""


@pytest.mark.parametrize("starts", [300, 430, 445, 447, 470, 1_000])
@pytest.mark.parametrize("scale", [1.0, 1e20, 1e120, 1e300])
def test_numbers_that_become_large_within_a_step(starts: int, scale: float) -> None:
    """2^starts trends begin; steps from there on cross the border to numbers with exponents."""
    types = ["A"] * starts + ["B", "C", "D", "C", "B", "D", "D"] * 80
    table = pa.table(
        {
            "time": np.arange(len(types)),
            "type": types,
            "x": [scale * (n % 7) for n in range(len(types))],
        }
    )
    found = results(BIG, table, plan=one_group(BIG), numeric="float", kernels="general")
    alone = SharingPlan(groups=(("q1",), ("q2",), ("q3",), ("q4",)))
    assert_same(found, results(BIG, table, plan=alone, numeric="float", kernels="general"))
    wanted = results(BIG, table, numeric="exact")
    for name in wanted:
        for one, other in zip(found[name], wanted[name], strict=True):
            if math.isfinite(other["COUNT(*)"]) and math.isfinite(one["COUNT(*)"]):
                assert math.isclose(one["COUNT(*)"], other["COUNT(*)"], rel_tol=1e-9)
