"""Which parts are sharable, where they stand, and when they conflict."""

from runtime.plan.planners.sharon.candidates import Candidate, candidates, sharable
from runtime.plan.planners.sharon.conflicts import (
    ConflictGraph,
    components,
    conflict_graph,
    connected,
)


def graph(queries: dict[str, str]) -> ConflictGraph:
    covers = sharable(queries)
    return conflict_graph(((each, 1.0) for each in candidates(covers)), covers)


def edges(queries: dict[str, str]) -> set[tuple[str, str]]:
    drawn = graph(queries)
    patterns = ["".join(each.pattern) for each in drawn.vertices]
    return {
        (one, other)
        for v, one in enumerate(patterns)
        for u, other in enumerate(patterns)
        if drawn.conflicts[v] >> u & 1 and one < other
    }


def test_two_types_and_two_queries_at_least() -> None:
    covers = sharable({"q1": "ABC", "q2": "BCD", "q3": "D", "q4": ""})
    assert candidates(covers) == (Candidate(("B", "C"), ("q1", "q2")),)


def test_a_query_that_repeats_a_part_is_one_query() -> None:
    assert sharable({"q1": "ABAB"}) == {}
    covers = sharable({"q1": "ABAB", "q2": "AB"})
    assert covers == {("A", "B"): {"q1": 0b1111, "q2": 0b11}}


def test_a_part_that_overlaps_with_itself() -> None:
    assert sharable({"q1": "AAA", "q2": "AA"}) == {("A", "A"): {"q1": 0b111, "q2": 0b11}}


def test_overlapping_ends_conflict() -> None:
    assert edges({"q1": "ABC", "q2": "AB", "q3": "BC"}) == {("AB", "BC")}


def test_one_inside_the_other_conflicts() -> None:
    assert ("ABCD", "BC") in edges({"q1": "ABCD", "q2": "ABCD"})


def test_neighbours_do_not_conflict() -> None:
    assert edges({"q1": "ABCD", "q2": "AB", "q3": "CD"}) == set()


def test_overlaps_in_a_query_of_one_only_do_not_conflict() -> None:
    one, other = Candidate(("A", "B"), ("q1", "q2")), Candidate(("B", "C"), ("q3", "q4"))
    covers = sharable(dict.fromkeys(("q1", "q2", "q3", "q4"), "ABC"))
    assert conflict_graph([(one, 1.0), (other, 1.0)], covers).conflicts == (0, 0)


def test_any_place_of_a_repeated_part_conflicts() -> None:
    """(A, B) may be shared at either place, so (X, A) is in its way."""
    assert edges({"q1": "ABXAB", "q2": "AB", "q3": "XA"}) == {("AB", "XA")}


def test_parts_without_conflicts_between_them_are_apart() -> None:
    queries = {"q1": "ABCDE", "q2": "ABC", "q3": "DE"}
    covers = sharable(queries)
    parts = components(covers, candidates(covers))
    assert [{"".join(each.pattern) for each in part} for part in parts] == [
        {"DE"},
        {"AB", "BC", "ABC"},
    ]
    drawn = graph(queries)
    assert [each.bit_count() for each in connected(drawn, drawn.everything)] == [1, 3]
