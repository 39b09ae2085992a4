"""Decisions are told piece by piece, and none is lost where share groups come and go."""

import numpy as np
import pyarrow as pa
import pytest

from runtime.pipeline.engine import Engine
from runtime.plan.decisions import merge_decisions
from runtime.plan.sharing_plan import SharingPlan

TEXT = "\n".join(
    f"QUERY q{n} RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WHERE [key] AND B.x != {n} WITHIN 1 s"
    for n in range(4)
)
ORDERED = "QUERY o RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE [key] AND B.x < NEXT(B).x WITHIN 1 s"
PLANS = [
    SharingPlan(groups=(("q0", "q1", "q2", "q3"),)),
    SharingPlan(groups=(("q0", "q1"), ("q2", "q3"))),
    SharingPlan(groups=(("q0", "q2"), ("q1", "q3"))),
]


def stream(seed: int, events: int = 3_000) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "time": np.arange(events) * 10,
            "type": draw.choice(["A", "B", "B", "B"], events),
            "key": draw.integers(0, 2, events),
            "x": draw.integers(0, 8, events),
        }
    )


def bursts(table: pa.Table) -> int:
    """Runs of B in a partition, cut where windows end."""
    found = 0
    for key in (0, 1):
        mine = table.filter(pa.array(table["key"].to_numpy() == key))
        types, windows = mine["type"].to_pylist(), mine["time"].to_numpy() // 1_000
        before: tuple[str, int] | None = None
        for now in zip(types, windows.tolist(), strict=True):
            found += now[0] == "B" and before != now
            before = now
    return found


@pytest.mark.parametrize("seed", range(6))
def test_every_burst_is_told_once(seed: int):
    table, draw = stream(seed), np.random.default_rng(seed)
    engine = Engine(TEXT, time_unit="ms", kernels="general", plan=PLANS[0])
    told = []
    for start in range(0, table.num_rows, 300):
        engine.process(table.slice(start, 300))
        engine.advance(int(table["time"][min(start + 299, table.num_rows - 1)].as_py()) * 1_000)
        if draw.random() < 0.5:
            told += engine.take_decisions()
        if draw.random() < 0.5:
            engine.set_plan(PLANS[int(draw.integers(0, len(PLANS)))])
    engine.finish()
    told += engine.take_decisions()
    assert engine.take_decisions() == []
    of_queries = dict.fromkeys(("q0", "q1", "q2", "q3"), 0)
    for group in merge_decisions(told):
        for each in group.types:
            assert each.type == "B"
            for name in group.queries:
                of_queries[name] += each.all
    # Bursts of more than 64 events would be told as several; a plan that changes ends none.
    assert set(of_queries.values()) == {bursts(table)}


def test_queries_that_go_leave_what_was_decided():
    table = stream(9)
    engine = Engine(TEXT + "\n" + ORDERED, time_unit="ms", kernels="general")
    engine.process(table)
    engine.advance(20_000_000)
    before = {(g.over, g.queries): sum(t.all for t in g.types) for g in engine.decisions()}
    for name in ("q0", "q1", "q2"):
        engine.remove(name)
    engine.finish()
    told = {(g.over, g.queries): sum(t.all for t in g.types) for g in engine.take_decisions()}
    four = ("bursts", ("q0", "q1", "q2", "q3"))
    assert told[four] >= before[four] > 0


def test_examples_are_told_once():
    engine = Engine(TEXT, time_unit="ms", kernels="general")
    numbers = []
    for start in (0, 30_000):
        table = stream(3).set_column(0, "time", pa.array(np.arange(3_000) * 10 + start))
        engine.process(table)
        engine.advance((start + 30_000) * 1_000)
        for group in engine.take_decisions():
            numbers += [(group.queries, each.type, each.number) for each in group.examples]
    assert len(numbers) == len(set(numbers)) > 10
