"""Equations 1 to 8 by hand."""

import pytest

from runtime.plan.planners.sharon.benefit import benefit, benefit_weight, counting, rate, shared

RATES = {"A": 2.0, "B": 3.0, "C": 5.0, "D": 7.0}


def test_a_query_by_itself() -> None:
    assert rate("ABCD", RATES) == 17
    assert counting("ABCD", RATES) == 2 * 17
    assert counting("", RATES) == 0
    assert rate("AX", RATES) == 3  # a type without a rate has one event


@pytest.mark.parametrize(
    ("pattern", "computation", "combination"),
    [
        ("BC", 2 * 2 + 7 * 7, 2 * 3 * 7),
        ("AB", 5 * 12, 2 * 5),  # no prefix
        ("CD", 2 * 5, 2 * 5),  # no suffix
        ("ABCD", 0, 0),  # nothing to combine
    ],
)
def test_a_query_that_shares(pattern: str, computation: int, combination: int) -> None:
    assert shared(pattern, "ABCD", RATES) == computation + combination


def test_benefit_counts_the_pattern_once() -> None:
    gains = [counting(each, RATES) - shared("AB", each, RATES) for each in ("ABC", "ABD")]
    assert benefit("AB", ("ABC", "ABD"), RATES) == sum(gains) - counting("AB", RATES)


def test_whole_queries_that_are_equal_save_all_but_one() -> None:
    assert benefit("ABCD", ["ABCD"] * 3, RATES) == 2 * counting("ABCD", RATES)


def test_a_type_that_comes_back_counts_each_time() -> None:
    assert counting("ABA", RATES) == 2 * (2 + 3 + 2)
    assert shared("AB", "ABAB", RATES) == counting("AB", RATES) + 2 * 2  # the first place


def test_the_weight_is_the_benefit() -> None:
    queries = {"q1": "ABCD", "q2": "XABY", "q3": "AB"}
    weight = benefit_weight(queries, RATES)
    for sharing in (("q1", "q2"), ("q1", "q3"), ("q1", "q2", "q3")):
        sequences = [queries[query] for query in sharing]
        assert weight(("A", "B"), sharing) == benefit("AB", sequences, RATES)
