"""The paper's benefit with its own numbers, and its choice of queries against all subsets."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from plan.sharing.paper import (
    Candidates,
    Choice,
    Cost,
    Decision,
    Definition11,
    Definition12,
    benefit,
    choose,
    decide,
)

# Equations 9, 10, 11: the burst, the snapshots, both costs.
SHARE = (Definition11(b=4, n=7, g=4, t=2), 1, 1, 44, 56)
SPLIT = (Definition11(b=4, n=11, g=8, t=2), 1, 2, 120, 88)
MERGE = (Definition11(b=4, n=15, g=4, t=2), 1, 1, 76, 120)
SEQUENCE = (SHARE, SPLIT, MERGE)


@pytest.mark.parametrize(("cost", "sc", "sp", "shared", "non_shared"), SEQUENCE)
def test_equations_9_to_11(cost: Cost, sc: int, sp: int, shared: int, non_shared: int) -> None:
    assert cost.shared(2, sc, sp) == shared
    assert cost.non_shared(2) == non_shared
    assert benefit(cost, 2, sc, sp) == non_shared - shared


def test_equations_9_to_11_share_split_merge_in_that_order() -> None:
    before, decisions = None, []
    for cost, sc, sp, _, _ in SEQUENCE:
        gain = benefit(cost, 2, sc, sp)
        decisions.append(decide(gain, before))
        before = gain > 0
    assert decisions == [Decision.SHARED, Decision.SPLIT, Decision.MERGED]


def test_a_graphlet_goes_on_as_it_was_where_nothing_changes() -> None:
    assert decide(12, before=True) is Decision.CONTINUED
    assert decide(-32, before=False) is Decision.CONTINUED
    assert decide(0, before=False) is Decision.CONTINUED
    assert decide(0, before=None) is Decision.SPLIT


def test_definition_12_by_hand() -> None:
    cost = Definition12(b=4, n=7, g=4, p=1)
    assert cost.shared(2, 1, 1) == 1 * 2 * 4 * 1 + 4 * (2 + 7 * 1)
    assert cost.non_shared(2) == 2 * 4 * (2 + 7)
    assert benefit(cost, 2, 1, 1) == 72 - 44


@pytest.mark.parametrize(
    ("cost", "queries", "shares"),
    [
        (SHARE[0], Candidates(2, {}), True),
        # Snapshot x goes on from the burst before, q2 brings y.
        (SPLIT[0], Candidates(2, {1: 1}, created=0, propagated=1), False),
        (MERGE[0], Candidates(2, {}), True),
    ],
)
def test_the_choice_of_equations_9_to_11(cost: Cost, queries: Candidates, shares: bool) -> None:
    apart = frozenset() if shares else frozenset({0, 1})
    assert choose(cost, queries) == Choice(shares, apart)


def test_examples_8_and_9() -> None:
    """Queries 1 and 3 bring no snapshots, 2 is worth its one, 4 is not worth its many."""
    cost = Definition12(b=100, n=100, g=32, p=1)
    first, second, third, fourth = range(4)
    queries = Candidates(4, {first: 0, second: 1, third: 0, fourth: 2})
    assert choose(cost, queries) == Choice(True, frozenset({fourth}))


# ---- against every subset ------------------------------------------------------------------

BURSTS = [
    *(Definition11(*each) for each in product((1, 4, 50), (8, 100), (1, 8), (1, 2))),
    *(Definition12(*each) for each in product((1, 4, 10, 50, 400), (8, 100), (1, 2, 8), (1, 2))),
]
MOST = 4


def candidates() -> Iterator[Candidates]:
    for k in range(1, MOST + 1):
        for brings in product((0, 1, 2), repeat=k):
            for created in (0, 1):
                yield Candidates(k, dict(enumerate(brings)), created)


def plan_cost(cost: Cost, queries: Candidates, sharing: frozenset[int]) -> float:
    """Section 4.3: Shared(QE) + NonShared(QN). Sharing needs two."""
    if len(sharing) < 2:
        return cost.non_shared(queries.k)
    return shared_cost(cost, queries, sharing) + cost.non_shared(queries.k - len(sharing))


def shared_cost(cost: Cost, queries: Candidates, sharing: frozenset[int]) -> float:
    new = sum(queries.brings[q] for q in sharing)
    return cost.shared(len(sharing), queries.created + new, queries.propagated + new)


def chosen(cost: Cost, queries: Candidates) -> frozenset[int]:
    return frozenset(range(queries.k)) - choose(cost, queries).apart


def best_cost(cost: Cost, queries: Candidates) -> float:
    sets = (frozenset(c) for n in range(queries.k + 1) for c in combinations(range(queries.k), n))
    return min(plan_cost(cost, queries, each) for each in sets)


def pays(cost: Cost, queries: Candidates, query: int, others: frozenset[int]) -> bool:
    alone = shared_cost(cost, queries, others) + cost.non_shared(1)
    return shared_cost(cost, queries, others | {query}) <= alone


def promised(cost: Cost, queries: Candidates) -> bool:
    """What the proofs lean on. 4.1: a query without snapshots pays, also among all. 4.2: whether
    one with snapshots pays does not depend on who else shares; the cost of joining only grows
    with the set, so the smallest and the largest tell."""
    everyone = frozenset(range(queries.k))
    without = frozenset(q for q in everyone if queries.brings[q] == 0)
    return all(pays(cost, queries, q, everyone - {q}) for q in without) and all(
        pays(cost, queries, q, without) == pays(cost, queries, q, everyone - {q})
        for q in everyone - without
    )


@pytest.mark.parametrize("cost", BURSTS, ids=str)
def test_the_choice_is_the_best_of_all_subsets_where_the_theorems_hold(cost: Cost) -> None:
    cases = [queries for queries in candidates() if promised(cost, queries)]
    for queries in cases:
        found = plan_cost(cost, queries, chosen(cost, queries))
        assert found == pytest.approx(best_cost(cost, queries)), queries


def test_the_theorems_hold_for_most_bursts() -> None:
    cases = [(cost, queries) for cost in BURSTS for queries in candidates()]
    holding = sum(promised(cost, queries) for cost, queries in cases)
    assert holding > 0.75 * len(cases)


@pytest.mark.parametrize("cost", BURSTS, ids=str)
def test_a_choice_is_never_worse_than_not_sharing(cost: Cost) -> None:
    for queries in candidates():
        assert plan_cost(cost, queries, chosen(cost, queries)) <= cost.non_shared(queries.k)


def test_where_the_reverse_of_theorem_4_2_fails() -> None:
    """Two queries bring a snapshot each. All together they do not pay, so both stay apart;
    either of them alone would."""
    cost = Definition12(b=10, n=100, g=8, p=1)
    queries = Candidates(3, {0: 0, 1: 1, 2: 1}, created=0)
    every = frozenset({0, 1, 2})
    assert not pays(cost, queries, 1, every - {1})
    assert pays(cost, queries, 1, frozenset({0}))
    assert chosen(cost, queries) == frozenset()
    assert best_cost(cost, queries) == plan_cost(cost, queries, frozenset({0, 1}))
    assert best_cost(cost, queries) < cost.non_shared(3)
