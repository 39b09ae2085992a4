"""The SHARON paper, examples 4 to 12, on the traffic workload of its figure 1."""

from math import inf

import pytest

from plan.sharon.workloads import NAMES, TABLE, TRAFFIC, WEIGHTS, figure_4, traffic_graph
from runtime.plan.planners.sharon.candidates import (
    Candidate,
    Pattern,
    Queries,
    candidates,
    sharable,
)
from runtime.plan.planners.sharon.conflicts import ConflictGraph, members
from runtime.plan.planners.sharon.finder import ValidPlan, children, find
from runtime.plan.planners.sharon.greedy import guaranteed_weight, gwmin
from runtime.plan.planners.sharon.options import subsets
from runtime.plan.planners.sharon.planner import plan
from runtime.plan.planners.sharon.reduction import greatest_score, reduce

CONFLICTS = {
    "p1": {"p2", "p3", "p4", "p5", "p6"},
    "p2": {"p1", "p3", "p5"},
    "p3": {"p1", "p2", "p4", "p5"},
    "p4": {"p1", "p3", "p5"},
    "p5": {"p1", "p2", "p3", "p4"},
    "p6": {"p1"},
    "p7": set(),
}


def never() -> bool:
    return False


def named(graph: ConflictGraph, vertices: int) -> set[str]:
    return {NAMES[candidate.pattern] for candidate in graph.candidates(vertices)}


def vertices(graph: ConflictGraph, *names: str) -> int:
    return sum(1 << v for v, each in enumerate(graph.vertices) if NAMES[each.pattern] in names)


def vertex(graph: ConflictGraph, name: str) -> int:
    return next(members(vertices(graph, name)))


def test_table_1_has_the_sharing_candidates() -> None:
    assert set(candidates(sharable(TRAFFIC))) == set(TABLE.values())


def test_examples_4_and_6_the_graph() -> None:
    graph = traffic_graph()
    drawn = {NAMES[each.pattern]: named(graph, graph.conflicts[v]) for v, each in _all(graph)}
    assert drawn == CONFLICTS
    assert {NAMES[each.pattern]: graph.weights[v] for v, each in _all(graph)} == WEIGHTS


def _all(graph: ConflictGraph) -> list[tuple[int, Candidate]]:
    return list(enumerate(graph.vertices))


def test_example_5_a_valid_plan_that_is_not_optimal() -> None:
    graph = traffic_graph()
    small, large = vertices(graph, "p2", "p4"), vertices(graph, "p1")
    assert not graph.conflicts[vertex(graph, "p2")] & small
    assert graph.score(small) == 24
    assert graph.score(large) == 25


def test_example_7_guaranteed_weight_and_the_ridden_candidate() -> None:
    graph = traffic_graph()
    everything = graph.everything
    total = graph.score(everything)
    assert guaranteed_weight(graph, everything) == pytest.approx(38.57, abs=0.005)
    assert greatest_score(graph, vertex(graph, "p3"), everything, total) == 38
    assert named(graph, reduce(graph, everything).ridden) == {"p3"}


def test_gwmin_keeps_what_it_guarantees() -> None:
    graph = traffic_graph()
    greedy = gwmin(graph, graph.everything)
    assert graph.score(greedy) >= guaranteed_weight(graph, graph.everything)


def test_example_8_the_free_candidate() -> None:
    graph = traffic_graph()
    assert named(graph, reduce(graph, graph.everything).free) == {"p7"}
    assert graph.weights[vertex(graph, "p7")] == 18


def test_example_9_what_is_left_to_search() -> None:
    graph = traffic_graph()
    rest = reduce(graph, graph.everything).rest
    assert named(graph, rest) == {"p1", "p2", "p4", "p5", "p6"}
    assert 2**7 - 2 ** rest.bit_count() == 96


def test_example_10_ten_valid_plans_level_by_level() -> None:
    graph = traffic_graph()
    level = [ValidPlan(0, 0.0, reduce(graph, graph.everything).rest)]
    levels = []
    while level := [child for parent in level for child in children(graph, parent)]:
        levels.append({frozenset(named(graph, each.plan)) for each in level})
        assert all(each.score == graph.score(each.plan) for each in level)
    assert [len(each) for each in levels] == [5, 4, 1]
    assert levels[-1] == {frozenset({"p2", "p4", "p6"})}


def test_example_10_the_optimal_plan() -> None:
    graph = traffic_graph()
    found = find(graph, never)
    assert found.optimal
    assert named(graph, found.plan) == {"p2", "p4", "p6", "p7"}
    assert graph.score(found.plan) == 50


def test_the_planner_on_the_whole_workload() -> None:
    made = plan(TRAFFIC, weight=figure_4, options=0, seconds=inf)
    assert set(made.chosen) == {TABLE[name] for name in ("p2", "p4", "p6", "p7")}
    assert (made.score, made.optimal) == (50, True)
    told = dict(zip(candidates(sharable(TRAFFIC)), made.reasons, strict=True))
    assert told[TABLE["p7"]] == "(Elm, Park) chosen: shared by q6, q7, saves 18"
    ridden = told[TABLE["p3"]]
    assert ridden.startswith("(Park, Oak, Main) dropped: overlaps with (Park, Oak) in q3, q4")
    assert ridden.endswith("[conflict-ridden]")
    assert told[TABLE["p5"]].startswith("(Oak, Main, West) dropped: overlaps with")


def test_example_12_an_option_resolves_conflicts() -> None:
    option = Candidate(("Oak", "Main"), ("q1", "q3"))
    assert option in set(subsets(TABLE["p1"]))

    def weight(pattern: Pattern, queries: Queries) -> float:
        return 20.0 if (pattern, queries) == option else figure_4(pattern, queries)

    made = plan(TRAFFIC, weight=weight, seconds=inf)
    assert set(made.chosen) == {option, TABLE["p5"], TABLE["p7"]}
    assert (made.score, made.optimal) == (58, True)
