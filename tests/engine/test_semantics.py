"""Sentences of the contract, each as a small stream with its number."""

from math import comb

import pytest

from engine.streams import count, rows, stream

NEXT = "skip-till-next-match"
ANY = "skip-till-any-match"


def test_a_trend_is_counted_once_however_many_bindings_it_has() -> None:
    assert count("SEQ(A+, A+)", "a1 a2 a3") == 4


def test_a_pattern_with_2_to_the_25_subsets_is_counted_binding_by_binding() -> None:
    """No trend has two bindings here: what follows the repeated part has a fixed length."""
    pattern = f"SEQ((A | B)*, A{', (A | B)' * 25})"
    text = " ".join(f"a{time}" for time in range(30))
    assert count(pattern, text) == sum(comb(30, length) for length in range(26, 31))


def test_a_trend_that_both_sides_of_a_disjunction_accept_is_counted_once() -> None:
    assert count("SEQ(A, B) | SEQ(A, B+)", "a1 b2 b3") == 3


def test_events_of_equal_time_are_never_neighbours() -> None:
    assert count("SEQ(A, B)", "a1 b1") == 0
    assert count("SEQ(A, B)", "a1 b1", ties="arrival") == 1
    assert count("SEQ(A, B)", "b1 a1", ties="arrival") == 0


def test_a_negated_sequence_lies_whole_inside_the_gap() -> None:
    assert count("SEQ(A, NOT SEQ(X, Y), B)", "a1 x2 a3 y4 b5") == 1


@pytest.mark.parametrize(
    ("pattern", "text", "trends"),
    [
        ("SEQ(NOT X, A, B)", "x1 a2 b3", 0),
        ("SEQ(NOT X, A, B)", "a1 x2 b3", 1),
        ("SEQ(A, NOT X, B)", "a1 x2 a3 b4", 1),
        ("SEQ(A, B, NOT X)", "a1 b2 x3 b4", 1),
        ("(SEQ(A, NOT X, B))+", "a1 b2 x3 a4 b5", 3),
        ("(SEQ(NOT X, A))+", "a1 x2 a3", 1),
        ("SEQ(A, NOT X, C?, B)", "a1 x2 b3", 0),
        ("SEQ(A, NOT X, C?, B)", "a1 c2 x3 b4", 1),
        ("SEQ(A, NOT SEQ(X, NOT Y, Z), B)", "a1 x2 y3 z4 b5", 1),
        ("SEQ(A, NOT SEQ(X, NOT Y, Z), B)", "a1 x2 z3 b4", 0),
    ],
)
def test_where_a_not_may_stand(pattern: str, text: str, trends: int) -> None:
    assert count(pattern, text) == trends


def test_an_event_at_the_end_of_a_gap_is_not_inside_it() -> None:
    assert count("SEQ(A, NOT X, B)", "a1 x1 b2") == 1
    assert count("SEQ(A, NOT X, B)", "a1 x2 b2") == 1


def test_skip_till_next_match_keeps_what_algorithm_3_of_cogra_loses() -> None:
    assert count("SEQ(A, B, C)", "a1 b2 a3 c4", NEXT) == 1


def test_skip_till_next_match_is_about_trends_not_bindings() -> None:
    """(a1, a2) can be extended by c3, so it must be: a4 does not come after it."""
    assert count("SEQ(A x+, A y, C)", "a1 a2 c3 a4 c5", NEXT) == 2  # a1 a2 c3, a2 a4 c5


def test_skip_till_next_match_finds_the_trends_of_each_side_of_a_pair_alone() -> None:
    """c2 can extend the trend (a1) of the right side only: on the left it is skipped."""
    assert count("SEQ(A, B) & SEQ(A, C)", "a1 c2 b3", NEXT) == 1


def test_contiguous_is_broken_by_any_event_between() -> None:
    assert count("SEQ(A, B)", "a1 z2 b3", "contiguous") == 0
    assert count("SEQ(A, B)", "a1 z1 b3", "contiguous") == 1


@pytest.mark.parametrize(
    ("pattern", "text", "pairs"),
    [
        ("A+ & B+", "a1 a2 b3", 3),  # C1 = 3, C2 = 1
        ("A+ & A+", "a1 a2", 3),  # C12 = 3: pairs of different trends
        ("SEQ(A, B) & A+", "a1 b2", 1),
        ("SEQ(A?, B) & SEQ(A, B)", "a1 b2", 1),  # C1 = 1, C12 = 1
    ],
)
def test_a_conjunction_counts_pairs_of_different_trends(
    pattern: str, text: str, pairs: int
) -> None:
    assert count(pattern, text) == pairs


def test_least_length() -> None:
    assert count("A+", "a1 a2 a3", where="LENGTH >= 2") == 4


def test_windows_that_begin_before_the_first_event_are_reported() -> None:
    query = "RETURN COUNT(*) PATTERN A WITHIN 4 s SLIDE 2 s"
    assert rows(query, stream("a1")) == [
        {"window_start": -2, "window_end": 2, "COUNT(*)": 1.0},
        {"window_start": 0, "window_end": 4, "COUNT(*)": 1.0},
    ]


def test_a_window_of_events_is_emitted_only_when_full() -> None:
    query = "RETURN COUNT(*) PATTERN A+ WITHIN 2 events SLIDE 1 event"
    assert rows(query, stream("a1 a2 a3")) == [
        {"window_start": 0, "window_end": 1, "COUNT(*)": 3.0},
        {"window_start": 1, "window_end": 2, "COUNT(*)": 3.0},
    ]


def test_nulls_are_skipped_by_aggregates_and_false_in_conditions() -> None:
    query = "RETURN COUNT(*), COUNT(A), SUM(A.x), AVG(A.x), MAX(A.x) PATTERN A WITHIN 9 s"
    table = stream("a1 a2 a3", x=[1.0, None, float("nan")])
    assert rows(query, table) == [
        {
            "window_start": 0,
            "window_end": 9,
            "COUNT(*)": 3.0,
            "COUNT(A)": 3.0,
            "SUM(A.x)": 1.0,
            "AVG(A.x)": 1.0,
            "MAX(A.x)": 1.0,
        }
    ]
    assert count("A", "a1 a2", where="NOT A.x > 5", attributes={"x": [1, None]}) == 1


def test_aggregates_of_nothing_are_null_and_a_count_of_nothing_is_zero() -> None:
    query = "RETURN COUNT(B), SUM(B.x), MIN(B.x), AVG(B.x) PATTERN SEQ(A, B?) WITHIN 9 s"
    (row,) = rows(query, stream("a1", x=[1]))
    assert [row[name] for name in ("COUNT(B)", "SUM(B.x)", "MIN(B.x)", "AVG(B.x)")] == [
        0.0,
        None,
        None,
        None,
    ]


def test_partitions_of_one_group_are_combined() -> None:
    query = """RETURN g, COUNT(*) AS n, AVG(A.x) AS mean PATTERN A+ WHERE [h]
               GROUP-BY g WITHIN 9 s"""
    table = stream("a1 a2 a3", g=["u", "u", None], h=[1, 2, 1], x=[1, 4, 7])
    assert rows(query, table) == [
        {"window_start": 0, "window_end": 9, "g": None, "n": 1.0, "mean": 7.0},
        {"window_start": 0, "window_end": 9, "g": "u", "n": 2.0, "mean": 2.5},
    ]


def test_having_sees_exact_values() -> None:
    query = "RETURN COUNT(*) AS n PATTERN A+ HAVING n > 3 AND SUM(A.x) / n = 3 WITHIN 9 s"
    assert rows(query, stream("a1 a2 a3", x=[3, 3, 3])) == []
    assert len(rows(query.replace("= 3", ">= 3"), stream("a1 a2 a3", x=[3, 3, 3]))) == 1
