"""Planners behind one interface: which one is taken, what it plans, and what it costs."""

from random import Random

import pytest

from execution.graphlet.sequences import TYPES, cut, results, stream, workload
from plan.coefficients import FREE_PARTS
from runtime.errors import HamletError
from runtime.language.parser import parse
from runtime.plan.cost_coefficients import CostCoefficients
from runtime.plan.estimate import CostEstimate, graphlet_nodes
from runtime.plan.operators.graphlet.shared_subpattern import check_plan
from runtime.plan.planner import extend_plan, plan
from runtime.plan.planners.registry import PLANNERS
from runtime.plan.sharing_plan import SharingPlan
from runtime.plan.statistics import Statistics


def queries(*patterns: str, clauses: str = "WITHIN 1 min"):
    return parse("\n".join(f"RETURN COUNT(*) PATTERN {each} {clauses}" for each in patterns))


# ---- which planner -------------------------------------------------------------------------

SHAPES = [
    (("SEQ(A, B)",), "none"),
    (("A+", "A+ & B+"), "none"),
    (("SEQ(A, B, C)", "SEQ(X, B, C)"), "sharon"),
    (("SEQ(A, B+)", "SEQ(C, B+)"), "greedy"),
    (("SEQ(A, (SEQ(P, T))+)", "SEQ(B, (SEQ(P, T))+)"), "gloria"),
    (("SEQ(A, B+)", "SEQ(C, B)"), "gloria"),
]


@pytest.mark.parametrize(("patterns", "planner"), SHAPES)
def test_the_shape_chooses(patterns: tuple[str, ...], planner: str):
    found = plan(queries(*patterns))
    assert found.planner == planner
    assert found.why


def test_an_unknown_planner_is_refused():
    with pytest.raises(
        HamletError, match="planner is `glory`, but must be one of auto, none, greedy"
    ):
        plan(queries("A+"), "glory")


# ---- what it plans -------------------------------------------------------------------------

ORDERS = (
    "SEQ(A, R, (SEQ(P, T))+, D)",
    "SEQ(A, R, (SEQ(P, T))+, C)",
    "SEQ(W, R, (SEQ(P, T))+, D)",
    "SEQ(W, R, C)",
)


def test_none_shares_nothing():
    found = plan(queries(*ORDERS), "none").plan
    assert found.groups == (("q1",), ("q2",), ("q3",), ("q4",))
    assert not found.transitions
    assert not found.shared


def test_greedy_shares_from_the_first_type_on():
    """It makes no snapshots on the way: q1 and q2 have A in common, q3 and q4 W."""
    found = plan(queries(*ORDERS), "greedy").plan
    sets = {(each.source, each.target): each.queries for each in found.transitions}
    assert sets["A", "R"] == ("q1", "q2")
    assert sets["W", "R"] == ("q3", "q4")
    assert sets["P", "T"] == ("q1", "q2")


def test_gloria_shares_by_all_who_can():
    found = plan(queries(*ORDERS), "gloria").plan
    sets = {(each.source, each.target): each.queries for each in found.transitions}
    assert sets["P", "T"] == ("q1", "q2", "q3")
    assert len(found.groups) == 1


def test_a_cheaper_plan_is_estimated_to_be_cheaper():
    found = plan(queries(*ORDERS), "gloria", compare=True)
    assert found.cost <= found.alternatives["greedy"] < found.alternatives["none"]
    assert len(found.sets) == len(found.plan.transitions)
    assert all(found.sets)


def test_longer_parts_where_they_pay():
    """Settling is dear: only where events next to the part are rare."""
    many = queries(*(f"SEQ(A{n}, (SEQ(P, T))+, C{n})" for n in range(40)))
    names = [f"{end}{n}" for end in "AC" for n in range(40)]
    rare = Statistics({"P": 1e6, "T": 1e6, **dict.fromkeys(names, 1.0)})
    often = Statistics({"P": 1.0, "T": 1.0, **dict.fromkeys(names, 1e6)})
    dear = CostCoefficients(settle=100.0)
    assert plan(many, "gloria", rare, dear).plan.shared
    assert not plan(many, "gloria", often, dear).plan.shared


# ---- results do not depend on it -----------------------------------------------------------


def random_statistics(random: Random) -> Statistics:
    return Statistics({type_: float(random.randint(1, 50)) for type_ in TYPES})


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("seed", range(12))
def test_results_are_those_of_the_exact_engine(seed: int, planner: str):
    random = Random(seed)
    text, _ = workload(random, cut(random))
    table = stream(random)
    coefficients = random.choice([CostCoefficients(), FREE_PARTS])
    found = plan(parse(text), planner, random_statistics(random), coefficients).plan
    check_plan(found, tuple(parse(text)))
    got = results(text, table, plan=found, kernels="general")
    assert got == results(text, table, numeric="exact"), (text, found)


# ---- queries that come later ---------------------------------------------------------------


def test_added_queries_are_planned_by_themselves():
    all_queries = tuple(queries(*ORDERS, "SEQ(X, Y)", "SEQ(X, Y, Z)"))
    running, added = all_queries[:4], all_queries[4:]
    before = plan(running, "gloria").plan
    after = extend_plan(before, all_queries, added)
    check_plan(after, all_queries)
    assert set(before.groups) <= set(after.groups)
    assert ("q5", "q6") in after.groups


def test_a_plan_that_names_no_groups_is_extended():
    all_queries = tuple(queries("SEQ(A, B+)", "SEQ(C, B+)", "SEQ(D, B+)"))
    after = extend_plan(SharingPlan(), all_queries, all_queries[2:])
    assert after.groups == (("q1", "q2"), ("q3",))


# ---- the estimate --------------------------------------------------------------------------


def test_runs_are_those_of_the_engine():
    found = plan(queries(*ORDERS), "none").plan
    nodes = graphlet_nodes(found, tuple(queries(*ORDERS)))
    assert [len(node.queries) for node in nodes] == [1, 1, 1, 1]


def test_every_run_pays_for_every_event():
    given = tuple(queries("SEQ(A, B)", "SEQ(C, D)"))
    free = CostCoefficients(7.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    estimate = CostEstimate(Statistics(dict.fromkeys("ABCD", 1.0)), free)
    assert estimate.plan(SharingPlan(groups=(("q1",), ("q2",))), given) == 14.0
    assert estimate.plan(SharingPlan(groups=(("q1", "q2"),)), given) == 7.0


def test_bursts_enter_once():
    given = tuple(queries("SEQ(A, B+)"))
    coefficients = CostCoefficients(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    counts = {"A": 1.0, "B": 9.0}
    one = CostEstimate(Statistics(counts), coefficients).plan(SharingPlan(), given)
    assert one == pytest.approx(1.0)
    long = CostEstimate(Statistics(counts, {"B": 9.0}), coefficients).plan(SharingPlan(), given)
    assert long == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"A": -5}, "the counts of `A` are -5"),
        ({"A": float("nan")}, "the counts of `A` are nan"),
        ({"A": "many"}, "the counts of `A` are 'many'"),
        (7, "statistics are counts of events by type"),
    ],
)
def test_statistics_that_are_none(given, said):
    with pytest.raises(HamletError, match=said):
        plan("QUERY q RETURN COUNT(*) PATTERN A+ WITHIN 1 s", "gloria", given)


def test_text_and_counts_will_do():
    text = """
    QUERY q RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 s
    QUERY r RETURN COUNT(*) PATTERN SEQ(C, B+) WITHIN 1 s
    """
    found = plan(text, "gloria", {"A": 1, "B": 100})
    assert found == plan(parse(text), "gloria", Statistics({"A": 1, "B": 100}))
    assert plan(text, "gloria", {"A": 0, "B": 0, "C": 0}).cost > 0
