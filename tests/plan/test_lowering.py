"""Plans of the planners, as the engine honours them: the results are those without a plan."""

from random import Random

import pytest

from execution.graphlet.sequences import TYPES, cut, results, stream, workload
from runtime.language.parser import parse
from runtime.plan.operators.graphlet.eligibility import supports
from runtime.plan.planners import gloria, sharon
from runtime.plan.planners.lowering import accept_parts, parts_of_gloria, parts_of_sharon
from runtime.plan.planners.shareable_set import ShareableSet
from runtime.plan.planners.shareable_set import shareable_sets as all_families
from runtime.plan.sharing_plan import SharedPart, SharingPlan

SEEDS = range(40)


def families(queries) -> list[ShareableSet]:
    return all_families(query for query in queries if supports(query))


def gain(pattern, queries) -> float:
    return len(pattern) * len(queries)


def planned(
    text: str, planner: str, rates: dict[str, float]
) -> tuple[tuple[SharedPart, ...], list]:
    kept: list[SharedPart] = []
    refused = []
    for family in families(parse(text)):
        if planner == "sharon":
            found = parts_of_sharon(family, sharon.plan(family.sequences, weight=gain))
        else:
            found = parts_of_gloria(family, gloria.plan(family.patterns, family.rates(rates)))
        some, others = accept_parts(family, found)
        kept += some
        refused += others
    return tuple(kept), refused


def random_rates(random: Random) -> dict[str, float]:
    return {type_: float(random.randint(1, 50)) for type_ in TYPES}


@pytest.mark.parametrize("planner", ["sharon", "gloria"])
@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_those_without_a_plan(seed: int, planner: str) -> None:
    random = Random(seed)
    text, _ = workload(random, cut(random))
    table = stream(random)
    parts, _ = planned(text, planner, random_rates(random))
    got = results(text, table, plan=SharingPlan(shared=parts), kernels="general")
    assert got == results(text, table, numeric="exact"), (text, parts)


@pytest.mark.parametrize(("planner", "least"), [("sharon", 5), ("gloria", 20)])
def test_many_plans_share(planner: str, least: int) -> None:
    """And the engine takes what planners decide, but for types that two parts would have. Most of
    these queries repeat something, which is nothing for SHARON."""
    sharing = 0
    for random in map(Random, SEEDS):
        text, _ = workload(random, cut(random))
        parts, refused = planned(text, planner, random_rates(random))
        sharing += len(parts) > 0
        assert all("another part" in why for _, why in refused), refused
    assert sharing >= least


def test_labels_keep_conditions_apart() -> None:
    text = """
    QUERY a RETURN COUNT(*) PATTERN SEQ(A, B, C) WITHIN 1 s
    QUERY b RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE B.x > 1 WITHIN 1 s
    QUERY c RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE B.x > 1 WITHIN 2 s
    """
    (family,) = families(parse(text))
    assert family.sequences["a"] == ("A", "B", "C")
    assert family.sequences["b"] == family.sequences["c"] != family.sequences["a"]


def test_what_is_no_sequence_is_left_out() -> None:
    text = """
    QUERY a RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 s
    QUERY b RETURN COUNT(*) PATTERN SEQ(A, B | C) WITHIN 1 s
    QUERY c RETURN COUNT(*) PATTERN SEQ(A, NOT B, C) WITHIN 1 s
    QUERY d RETURN COUNT(*) PATTERN SEQ(A, C) WITHIN 1 s
    """
    (family,) = families(parse(text))
    assert set(family.patterns) == {"a", "d"}
    assert family.sequences == {"d": ("A", "C")}
