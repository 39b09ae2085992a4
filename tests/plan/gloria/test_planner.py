"""Plans: of examples, of random workloads against all plans, and of what cannot be shared."""

from collections import Counter
from collections.abc import Mapping

import pytest

from plan.gloria.exhaustive import cheapest, cost_of
from plan.gloria.gaps import measure
from plan.gloria.workloads import large, plus, seq, small
from runtime.plan.planners.gloria import (
    CandidateOptions,
    GloriaPlan,
    PaperCosts,
    PatternPart,
    plan,
)
from runtime.plan.planners.gloria.patterns import flat, pools

PAPER = CandidateOptions(subsets=0)
XYZ: dict[str, PatternPart] = {
    "q1": seq(*"XABC"),
    "q2": seq(*"XABC"),
    "q3": seq(*"YABC"),
    "q4": seq(*"ZABC"),
}
XYZ_RATES = {"X": 1.0, "Y": 1.0, "Z": 1.0, "A": 5.0, "B": 6.0, "C": 5.0}


def shared(made: GloriaPlan, source: str, target: str) -> dict[tuple[str, ...], str | None]:
    (found,) = (t for t in made.transitions if (t.source, t.target) == (source, target))
    return {each.queries: each.snapshots for each in found.sets}


def blocks(made: GloriaPlan) -> dict[tuple[str, str], list[tuple[frozenset[str], str | None]]]:
    return {
        (t.source, t.target): [(frozenset(s.queries), s.snapshots) for s in t.sets]
        for t in made.transitions
    }


def assert_covers(made: GloriaPlan, queries: Mapping[str, PatternPart]) -> None:
    """Every transition of every query is in one set, also one that a query has in two places."""
    found = Counter(
        ((t.source, t.target), name) for t in made.transitions for s in t.sets for name in s.queries
    )
    wanted = {
        (transition, name)
        for name, pattern in queries.items()
        for pool in pools(flat(pattern))
        for transition in pool.transitions
    }
    assert found == Counter(wanted)
    assert all(s.why and "\n" not in s.why for t in made.transitions for s in t.sets)


def test_merging_only_some_costs_less_than_merging_all() -> None:
    best = cheapest(XYZ, PaperCosts(XYZ_RATES))
    made = plan(XYZ, XYZ_RATES)
    assert made.cost == best < plan(XYZ, XYZ_RATES, options=PAPER).cost
    assert shared(made, "A", "B") == {("q1", "q2"): "X", ("q3", "q4"): "A"}
    assert made.always > made.cost < made.never


@pytest.mark.parametrize("kleene", [False, True])
def test_random_workloads_against_all_plans(kleene: bool) -> None:
    found = measure(range(40), kleene)
    alone, subsets = found["principles alone"], found["with subsets"]
    assert min(alone.gaps + subsets.gaps) > -1e-9, "no plan costs less than the best"
    pairs = zip(subsets.gaps, alone.gaps, strict=True)
    assert all(gap <= paper + 1e-9 for gap, paper in pairs)
    assert subsets.mean < alone.mean
    assert subsets.mean < 0.01
    assert subsets.optimal > 0.85


@pytest.mark.parametrize("kleene", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_a_plan_covers_every_transition_once_and_costs_what_it_says(
    seed: int, kleene: bool
) -> None:
    queries, rates = small(seed, kleene)
    for options in (
        PAPER,
        CandidateOptions(),
        CandidateOptions(prune=False),
        CandidateOptions(subsets=1, limit=1),
    ):
        made = plan(queries, rates, options=options)
        assert_covers(made, queries)
        assert made.cost == pytest.approx(cost_of(queries, blocks(made), PaperCosts(rates)))
        assert made.cost <= min(made.never, made.always) + 1e-9
        assert made.kept.nodes <= made.generated.nodes
        assert made.kept.edges <= made.generated.edges


def test_a_nested_loop_is_shared_as_a_whole() -> None:
    nest = plus("C", plus("A", "B"), "D")
    queries: dict[str, PatternPart] = {f"q{i}": seq(nest, end) for i, end in enumerate("EFGH")}
    rates = {"A": 5.0, "B": 10.0, "C": 12.0, "D": 4.0, **dict.fromkeys("EFGH", 3.0)}
    made = plan(queries, rates)
    assert_covers(made, queries)
    inside = [shared(made, *step) for step in ("CA", "AB", "BA", "BD", "DC")]
    assert inside == [{("q0", "q1", "q2", "q3"): "D"}] * 5
    assert made.cost == cheapest(queries, PaperCosts(rates))


def test_a_loop_is_shared_only_by_those_that_have_all_of_it() -> None:
    queries: dict[str, PatternPart] = {
        "q1": plus("A", "B"),
        "q2": seq("A", "B"),
        "q3": seq("A", "B"),
    }
    made = plan(queries, {"A": 5.0, "B": 100.0})
    assert_covers(made, queries)
    assert shared(made, "B", "A") == {("q1",): None}
    assert not any("q1" in names and len(names) > 1 for names in shared(made, "A", "B"))


def test_a_loop_goes_on_with_rare_snapshots_from_before_it() -> None:
    """Figure 4: C is rare, and is enough for the loop; the path principle alone would not."""
    loop = plus("A", "B")
    queries: dict[str, PatternPart] = {"q1": seq("C", loop, "D"), "q2": seq("C", loop)}
    rates = {"C": 1.0, "A": 20.0, "B": 20.0, "D": 5.0}
    made = plan(queries, rates)
    assert shared(made, "B", "A") == {("q1", "q2"): "C"}
    assert made.cost == cheapest(queries, PaperCosts(rates))


def test_several_ends() -> None:
    queries: dict[str, PatternPart] = {f"q{i}": seq(*"ABC", end) for i, end in enumerate("DEFG")}
    queries["short"] = seq(*"AB")
    rates = {"A": 2.0, "B": 30.0, "C": 30.0, **dict.fromkeys("DEFG", 10.0)}
    made = plan(queries, rates)
    assert_covers(made, queries)
    assert made.cost == cheapest(queries, PaperCosts(rates))
    assert shared(made, "B", "C") == {("q0", "q1", "q2", "q3"): "A"}


def test_queries_of_opposite_order_have_nothing_to_share() -> None:
    queries: dict[str, PatternPart] = {"q1": seq(*"AB"), "q2": seq(*"BA"), "q3": seq(*"AB")}
    made = plan(queries, {"A": 1.0, "B": 50.0})
    assert_covers(made, queries)
    assert shared(made, "A", "B") in ({("q1", "q3"): "A"}, {("q1", "q3"): None})
    assert shared(made, "B", "A") == {("q2",): None}
    assert made.notes == ()


def test_transitions_in_a_circle_are_cut_into_groups() -> None:
    ring: dict[str, PatternPart] = {f"q{i}": seq(*("ABCD" * 2)[i : i + 3]) for i in range(4)}
    queries = ring | {f"{name}'": pattern for name, pattern in ring.items()}
    made = plan(queries, dict.fromkeys("ABCD", 9.0))
    assert_covers(made, queries)
    assert len(made.notes) == 1
    assert "2 groups" in made.notes[0]
    assert made.cost <= made.never


def test_many_contradicting_orders_are_covered() -> None:
    ring: dict[str, PatternPart] = {}
    for i in range(60):
        types = [f"T{(i * 7 + j * (1 + i % 5)) % 31}" for j in range(6)]
        ring[f"q{i}"] = seq(*types)
    made = plan(ring, {f"T{i}": float(1 + i % 9) for i in range(31)})
    assert_covers(made, ring)


def test_a_type_that_occurs_twice_is_not_shared_and_the_rest_is() -> None:
    queries: dict[str, PatternPart] = {
        "twice": seq(*"ABCDEA"),
        "loop": seq("A", plus("A", "B"), *"CDE"),
        "plain": seq(*"BCDE"),
    }
    rates = {"A": 4.0, "B": 2.0, "C": 30.0, "D": 30.0, "E": 30.0}
    made = plan(queries, rates)
    assert_covers(made, queries)
    assert shared(made, "C", "D")[("twice", "loop", "plain")] is not None
    for t in made.transitions:
        for each in t.sets:
            if "A" in (t.source, t.target):
                assert each.snapshots is None
                assert "has A twice" in each.why


def test_one_query_and_one_type() -> None:
    assert plan({}, {}).cost == 0
    assert plan({"q": "A"}, {"A": 3.0}).cost == 3
    made = plan({"q": seq("A", "B")}, {"A": 3.0, "B": 2.0})
    assert (made.cost, made.never, made.always) == (9, 9, 9)
    assert made.transitions[0].sets[0].why == "no other query has this transition"
    with pytest.raises(ValueError, match="no event type"):
        plan({"q": seq()}, {})
    with pytest.raises(ValueError, match="q has B, which has no rate"):
        plan({"q": seq("A", "B")}, {"A": 1.0})


def test_equal_queries_are_planned_as_one() -> None:
    """A hundred copies make no larger graph than two."""
    few = {f"q{i}": seq(*"ABCD") for i in range(2)}
    many = {f"q{i}": seq(*"ABCD") for i in range(100)}
    rates = {"A": 2.0, "B": 9.0, "C": 9.0, "D": 9.0}
    assert plan(many, rates).generated == plan(few, rates).generated


def test_the_kept_graph_is_bounded_by_its_pools() -> None:
    queries, rates = large(120, seed=3, kleene=7)
    options = CandidateOptions()
    made = plan(queries, rates, options=options)
    assert_covers(made, queries)
    steps = {pool for pattern in queries.values() for pool in pools(flat(pattern))}
    assert made.kept.nodes <= len(steps) * (options.limit + 1)
    assert made.cost < made.never


def test_costs_are_asked_for_and_may_be_any() -> None:
    """Where evaluating is free, everything is shared that can be; where it is dear, nothing."""

    class Free(PaperCosts):
        def evaluate(self, type_: str, snapshots: str, k: int) -> float:
            return 0.0

    class Dear(PaperCosts):
        def evaluate(self, type_: str, snapshots: str, k: int) -> float:
            return 1e9 * k

    for made, wanted in (
        (plan(XYZ, XYZ_RATES, Free(XYZ_RATES)), True),
        (plan(XYZ, XYZ_RATES, Dear(XYZ_RATES)), False),
    ):
        assert any(s for s in shared(made, "B", "C").values()) is wanted
