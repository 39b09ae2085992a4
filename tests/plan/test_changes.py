"""Plans that change in the middle of a stream, at a pane of the engine's choosing, and queries that
come with a plan: the results are those of the exact engine without any plan."""

from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest

from execution.graphlet.sequences import cut, stream, workload
from plan.coefficients import FREE_PARTS
from runtime.language.parser import parse
from runtime.pipeline.engine import Engine
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.planner import extend_plan, plan
from runtime.plan.planners.registry import PLANNERS
from runtime.plan.statistics import Statistics


def rows(tables: list[dict[str, pa.Table]]) -> dict[str, list[tuple]]:
    found: dict[str, list[tuple]] = {}
    for each in tables:
        for name, table in each.items():
            found.setdefault(name, []).extend(tuple(row.values()) for row in table.to_pylist())
    return {name: sorted(each) for name, each in found.items()}


def pieces(table: pa.Table, random: Random) -> list[pa.Table]:
    cuts = sorted({0, table.num_rows, *(random.randrange(table.num_rows) for _ in range(6))})
    return [table.slice(a, b - a) for a, b in pairwise(cuts)]


def some_plan(text: str, random: Random):
    coefficients = random.choice([CostCoefficients(), FREE_PARTS])
    return plan(parse(text), random.choice(list(PLANNERS)), Statistics(), coefficients).plan


def exact(text: str, table: pa.Table) -> dict[str, list[tuple]]:
    engine = Engine(text, numeric="exact", time_unit="us")
    engine.process(table)
    return rows([engine.finish()])


def as_numbers(found: dict[str, list[tuple]]) -> dict[str, list[tuple]]:
    """Whole numbers of the exact engine are text."""
    return {
        name: [tuple(float(v) if isinstance(v, str) else v for v in row) for row in each]
        for name, each in found.items()
    }


@pytest.mark.parametrize("seed", range(40))
def test_plans_that_change(seed: int):
    random = Random(seed)
    text, _ = workload(random, cut(random))
    table = stream(random)
    engine = Engine(text, plan=some_plan(text, random), kernels="general", time_unit="us")
    found = []
    for piece in pieces(table, random):
        found.append(engine.process(piece))
        if random.random() < 0.4:
            found.append(engine.advance(int(piece["time"][-1].as_py()) if piece.num_rows else 0))
        if random.random() < 0.7:
            engine.set_plan(some_plan(text, random))
    found.append(engine.finish())
    assert as_numbers(rows(found)) == as_numbers(exact(text, table)), text


@pytest.mark.parametrize("after", PLANNERS)
@pytest.mark.parametrize("before", PLANNERS)
def test_a_checkpoint_goes_on_by_another_planner(before: str, after: str):
    """It is taken in the middle of windows and of what planners share."""
    text = "\n".join(
        f"QUERY q{n} RETURN COUNT(*), SUM(C.x) PATTERN {pattern} WITHIN 60 us SLIDE 20 us"
        for n, pattern in enumerate(("SEQ(A, B, C)", "SEQ(D, B, C)", "SEQ(A, (SEQ(B, C))+)"))
    )
    table = stream(Random(7))
    half = table.num_rows // 2
    first, second = (
        plan(parse(text), each, coefficients=FREE_PARTS).plan for each in (before, after)
    )
    engine = Engine(text, plan=first, kernels="general", time_unit="us")
    found = [engine.process(table.slice(0, half)), engine.advance(int(table["time"][half].as_py()))]
    assert engine.open_windows() > 0
    again = Engine(text, plan=second, kernels="general", time_unit="us")
    again.restore(engine.checkpoint())
    found += [again.process(table.slice(half)), again.finish()]
    wanted = as_numbers(exact(text, table))
    assert all(len(wanted[name]) > 1 for name in ("q0", "q1", "q2"))
    assert as_numbers(rows(found)) == wanted


def test_a_plan_waits_for_the_next_pane():
    text = "\n".join(
        f"QUERY q{n} RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 10 us" for n in range(3)
    )
    together, apart = plan(parse(text), "greedy").plan, plan(parse(text), "none").plan
    engine = Engine(text, plan=together, time_unit="us", kernels="general")
    engine.process(pa.table({"time": [1, 2], "type": ["A", "B"]}))
    engine.advance(3)
    engine.set_plan(apart)
    engine.process(pa.table({"time": [4, 5], "type": ["B", "B"]}))
    engine.advance(6)
    assert len(engine.decisions()) == 1
    engine.process(pa.table({"time": [7, 11, 12], "type": ["B", "A", "B"]}))
    engine.advance(13)
    assert len(engine.decisions()) == 3
    assert rows([engine.finish()])["q0"] == [(10, 20, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_queries_that_come_with_a_plan(seed: int):
    """They leave the runs of all others alone, and report windows from then on."""
    random = Random(1000 + seed)
    text, _ = workload(random, cut(random))
    table = stream(random)
    every = tuple(parse(text))
    if len(every) < 2:
        pytest.skip("one query only")
    first, later = every[: len(every) // 2], every[len(every) // 2 :]
    middle = table.num_rows // 2
    begun = plan(first, "gloria").plan
    engine = Engine(parse(text), plan=None, kernels="general", time_unit="us")
    for query in later:
        engine.remove(query.name)
    engine.set_plan(begun)
    found = [engine.process(table.slice(0, middle))]
    since = int(table["time"][middle].as_py())
    engine.add(later, since, plan=extend_plan(begun, every, later))
    found.append(engine.process(table.slice(middle)))
    found.append(engine.finish())
    got, wanted = as_numbers(rows(found)), as_numbers(exact(text, table))
    for query in first:
        assert got.get(query.name) == wanted.get(query.name), query.name
    for query in later:
        kept = [row for row in wanted.get(query.name, []) if row[0] >= since]
        assert got.get(query.name, []) == kept, query.name
