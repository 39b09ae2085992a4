"""Optimizers as systems: they find what they are known to find, and tell what it took."""

import pytest

from benchmarks._papers.made import Made
from benchmarks._papers.planners import (
    Exhaustive,
    Gloria,
    Greedy,
    Gwmin,
    NoPrune,
    Optimizer,
    Sharon,
)
from benchmarks._papers.streams import gloria, sharon
from runtime.language.parser import parse


def planned(optimizer: Optimizer, made: Made) -> dict[str, float]:
    prepared = optimizer.prepare(parse(made.workload), made.table)
    assert prepared.run() == {}
    assert prepared.state_bytes == 0
    prepared.ready()
    prepared.run()
    assert prepared.state_bytes > 1_000
    return dict(prepared.figures)


@pytest.mark.parametrize("seed", range(5))
def test_no_optimizer_of_sequences_beats_the_exhaustive_one(seed: int) -> None:
    made = sharon.purchases(events=1_000, queries=6, length=6, items=10, lists=2, seed=seed)
    best = planned(Exhaustive(), made)["plan_score"]
    found = planned(Sharon(), made)["plan_score"]
    greedy = planned(Gwmin(), made)["plan_score"]
    assert found == pytest.approx(best)
    assert greedy <= best * (1 + 1e-9)
    assert best > 0


@pytest.mark.parametrize("kleene", [0, 30, 100])
def test_pruning_loses_nothing_and_greed_does(kleene: int) -> None:
    made = gloria.mixed(queries=12, kleene=kleene, length=4, layers=1, rate=50)
    every, some, one = (planned(each, made) for each in (NoPrune(), Gloria(), Greedy()))
    assert some["plan_cost"] == pytest.approx(every["plan_cost"], rel=0.02)
    assert some["plan_cost"] <= one["plan_cost"]
    assert some["nodes"] <= every["nodes"]
    assert one["nodes"] == 0
