"""The planner against exhaustive search, on random small workloads."""

from math import inf
from random import Random

import pytest

from plan.sharon.exhaustive import best_score
from plan.sharon.workloads import overlaps, random_stretches
from runtime.plan.planners.sharon.benefit import benefit_weight
from runtime.plan.planners.sharon.candidates import Pattern, Queries, Weight
from runtime.plan.planners.sharon.planner import plan

# queries, lengths, types
SHAPES = [
    (3, (4, 6), "ABCD"),
    (4, (4, 6), "ABCDEF"),
    (5, (3, 5), "ABCDE"),
    (5, (4, 5), "ABCD"),
]


def any_weight(random: Random) -> Weight:
    """Weights without any law, some below zero; the same whenever they are asked for."""
    known: dict[tuple[Pattern, Queries], float] = {}

    def weight(pattern: Pattern, queries: Queries) -> float:
        return known.setdefault((pattern, queries), float(random.randint(-5, 20)))

    return weight


@pytest.mark.parametrize("law", ["benefit", "any"])
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_scores_as_exhaustive_search(shape: int, law: str) -> None:
    above_greedy = 0
    for seed in range(250):
        random = Random(f"{shape} {law} {seed}")
        queries = random_stretches(random, *SHAPES[shape])
        rates = {each: random.uniform(0.2, 4.0) for each in SHAPES[shape][2]}
        weight = benefit_weight(queries, rates) if law == "benefit" else any_weight(random)
        made = plan(queries, weight=weight, seconds=inf, options=100_000)
        assert made.score == pytest.approx(best_score(queries, weight)), queries
        assert made.optimal
        assert made.greedy <= made.score + 1e-9
        assert overlaps(made.chosen, queries) == []
        above_greedy += made.score > made.greedy + 1e-9
        plain = plan(queries, weight=weight, seconds=inf, options=0)
        assert plain.score == pytest.approx(best_score(queries, weight, whole=True)), queries
        assert plain.optimal
    assert above_greedy > 20  # else the workloads are too easy to show anything
