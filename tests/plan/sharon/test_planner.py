"""Plans under limits: of time, of options, of memory; and what is told of them."""

from itertools import count
from math import inf
from random import Random

import pytest

from plan.sharon.workloads import TRAFFIC, overlaps, random_sequences, routes
from runtime.plan.planners.sharon import finder
from runtime.plan.planners.sharon.benefit import benefit_weight
from runtime.plan.planners.sharon.candidates import (
    Candidate,
    Pattern,
    Queries,
    candidates,
    sharable,
)
from runtime.plan.planners.sharon.component import ComponentBound, score
from runtime.plan.planners.sharon.conflicts import ConflictGraph, conflict_graph
from runtime.plan.planners.sharon.greedy import guaranteed_weight, gwmin
from runtime.plan.planners.sharon.planner import plan
from runtime.plan.planners.sharon.reduction import reduce


def length(pattern: Pattern, queries: Queries) -> float:
    return float(len(pattern) * (len(queries) - 1))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("options", [0, 64])
def test_without_time_the_greedy_plan_is_the_answer(seed: int, options: int) -> None:
    queries = random_sequences(Random(seed), 12, (4, 8), "ABCDEFGH")
    made = plan(queries, seconds=0, options=options)
    assert made.ending is ComponentBound.EXPIRED
    assert not made.optimal
    assert made.score >= made.greedy > 0
    assert overlaps(made.chosen, queries) == []
    if not options:
        covers = sharable(queries)
        weight = benefit_weight(queries, {})
        graph = conflict_graph(((each, weight(*each)) for each in candidates(covers)), covers)
        assert set(made.chosen) == set(graph.candidates(gwmin(graph, graph.everything)))


def test_time_that_ends_during_the_search_leaves_the_best_so_far() -> None:
    queries = routes(Random(1), 40)
    scores = []
    for seconds in (0, 20, 200, 2_000):
        made = plan(queries, seconds=seconds, options=0, clock=count().__next__)
        assert overlaps(made.chosen, queries) == []
        assert made.score >= made.greedy
        scores.append(made.score)
    assert scores == sorted(scores)


def test_a_level_that_is_too_wide_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = routes(Random(2), 40)
    full = plan(queries, seconds=inf, options=0)
    assert full.optimal
    monkeypatch.setattr(finder, "WIDEST", 0)
    made = plan(queries, seconds=inf, options=0)
    assert made.ending is ComponentBound.EXPIRED
    assert full.greedy <= made.score <= full.score


@pytest.mark.parametrize("seed", range(10))
def test_plans_of_workloads_of_any_size_have_no_conflict(seed: int) -> None:
    random = Random(seed)
    for queries in (routes(random, 60), random_sequences(random, 30, (2, 9), "ABCDE")):
        for options in (0, 100, 1_000):
            made = plan(queries, seconds=0.02, options=options)
            assert overlaps(made.chosen, queries) == []
            assert all(len(each.queries) > 1 for each in made.chosen)
            assert made.score >= made.greedy


def test_limited_options_are_not_called_optimal() -> None:
    queries = {f"q{i}": "ABCD" for i in range(12)} | {f"r{i}": "CDEF" for i in range(12)}
    made = plan(queries, weight=length, seconds=inf, options=50)
    assert made.ending is ComponentBound.LIMITED
    assert made.score == 2 * 11 + 2 * 23 + 2 * 11  # (A, B), (C, D) by all, (E, F)


def test_options_find_more_than_whole_candidates() -> None:
    queries = {"q1": "ABC", "q2": "ABD", "q3": "ZAB", "q4": "ZAE"}

    def weight(pattern: Pattern, sharing: Queries) -> float:
        return len(sharing) + 0.5 * (pattern == ("Z", "A"))

    assert plan(queries, weight=weight, options=0).score == 3  # (A, B) or (Z, A)
    made = plan(queries, weight=weight, seconds=inf)
    assert made.score == 4.5
    assert Candidate(("A", "B"), ("q1", "q2")) in made.chosen


@pytest.mark.parametrize("worth", [0.0, -1.0, -1e9])
def test_what_does_not_pay_is_not_shared(worth: float) -> None:
    for seed in range(20):
        queries = random_sequences(Random(seed), 5, (3, 6), "ABCD")
        for options in (0, 20, 10_000):
            made = plan(queries, weight=lambda *_: worth, seconds=inf, options=options)
            assert (made.chosen, made.score, made.greedy) == ((), 0, 0)
            assert all("does not pay" in line for line in made.reasons)


def test_high_rates_make_combining_too_dear() -> None:
    """Equation 5 has three factors where equation 2 has two."""
    queries = {"q1": "XABY", "q2": "ZABW"}
    assert plan(queries, {}).chosen == ()
    assert plan(queries, dict.fromkeys("ABXYZW", 0.1)).chosen[0].pattern == ("A", "B")
    assert plan(queries, dict.fromkeys("ABXYZW", 100.0)).chosen == ()


def test_an_injected_weight_is_all_that_decides() -> None:
    def only_oak(pattern: Pattern, queries: Queries) -> float:
        return 1.0 if (pattern, queries) == (("Oak", "Main"), ("q2", "q3")) else -1.0

    made = plan(TRAFFIC, {"Oak": 1e6}, weight=only_oak, seconds=inf)
    assert made.chosen == (Candidate(("Oak", "Main"), ("q2", "q3")),)
    assert (made.score, made.optimal) == (1.0, True)


def test_the_score_is_that_of_what_is_chosen() -> None:
    queries = routes(Random(3), 50)
    weight = benefit_weight(queries, {})
    made = plan(queries, weight=weight)
    assert made.score == pytest.approx(score(made.chosen, weight))


def test_each_candidate_has_its_reason() -> None:
    queries = routes(Random(4), 50)
    made = plan(queries)
    chosen = {each.pattern for each in made.chosen}
    for candidate, line in zip(candidates(sharable(queries)), made.reasons, strict=True):
        verdict = "chosen" if candidate.pattern in chosen else "dropped"
        assert line.startswith(f"({', '.join(candidate.pattern)}) {verdict}: ")


@pytest.mark.parametrize("queries", [{}, {"q1": ""}, {"q1": "ABC"}, {"q1": "AB", "q2": "BA"}])
def test_nothing_to_share(queries: dict[str, str]) -> None:
    made = plan(queries)
    assert (made.chosen, made.score, made.optimal, made.reasons) == ((), 0, True, ())


@pytest.mark.parametrize("vertices", range(1, 30))
def test_rounding_makes_no_candidate_ridden(vertices: int) -> None:
    """In a clique of equals the guaranteed weight is that of each, but for rounding."""
    everything = (1 << vertices) - 1
    clique = tuple(everything & ~(1 << v) for v in range(vertices))
    same = (Candidate(("A", "B"), ("q1", "q2")),) * vertices
    for conflicts in (clique, (0,) * vertices):
        graph = ConflictGraph(same, (0.1,) * vertices, conflicts)
        assert reduce(graph, everything).ridden == 0


@pytest.mark.parametrize("seed", range(20))
def test_gwmin_is_never_below_its_guarantee(seed: int) -> None:
    covers = sharable(random_sequences(Random(seed), 10, (3, 8), "ABCDEF"))
    random = Random(seed)
    weighted = [(each, random.uniform(0.1, 10.0)) for each in candidates(covers)]
    graph = conflict_graph(weighted, covers)
    greedy = gwmin(graph, graph.everything)
    assert graph.score(greedy) >= guaranteed_weight(graph, graph.everything) - 1e-9


def test_large_workloads_ask_for_few_weights() -> None:
    """Work is counted, not time: what is weighed grows no faster than the workload."""
    asked = {}
    for size in (100, 200, 400):
        queries, weighed = routes(Random(5), size), [0]
        inner = benefit_weight(queries, {})

        def counted(pattern: Pattern, sharing: Queries) -> float:
            weighed[0] += len(sharing)  # noqa: B023
            return inner(pattern, sharing)  # noqa: B023

        plan(queries, weight=counted, seconds=0)
        asked[size] = weighed[0]
    assert asked[400] < 6 * asked[100]
    assert asked[400] < 400 * 45 * 20
