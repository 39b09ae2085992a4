"""Groups of chains whose pools have an order, found in both ways."""

from random import Random

import pytest

from plan.gloria.workloads import seq
from runtime.plan.planners.gloria import groups
from runtime.plan.planners.gloria.chains import TypeChain, chains
from runtime.plan.planners.gloria.groups import components, cut, order


def drawn(seed: int) -> list[TypeChain]:
    random = Random(seed)
    names = "ABCDEFGH"[: random.randint(4, 8)]
    queries = {f"q{i}": seq(*random.sample(names, random.randint(3, 4))) for i in range(30)}
    return list(chains(queries).queries)


@pytest.mark.parametrize("seed", range(20))
def test_groups_have_an_order_and_are_the_same_in_both_ways(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = dict.fromkeys(drawn(seed), 1)
    dense = cut(sizes, 64)
    monkeypatch.setattr(groups, "MANY", 0)
    assert cut(sizes, 64) == dense
    assert sorted(map(str, sizes)) == sorted(str(chain) for group in dense for chain in group)
    for i, group in enumerate(dense):
        pools = order(group)
        assert pools is not None
        for chain in group:
            at = [pools.index(pool) for pool in chain.pools]
            assert at == sorted(at)
            for earlier in dense[:i]:
                assert order([*earlier, chain]) is None, "it would have fitted"


def test_components_have_no_pool_in_common() -> None:
    queries = {"q1": seq(*"ABC"), "q2": seq(*"XBC"), "q3": seq(*"CBA"), "q4": seq(*"XY")}
    found = components(chains(queries).queries)
    assert sorted(len(each) for each in found) == [1, 1, 2]
