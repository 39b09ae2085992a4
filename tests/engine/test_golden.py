"""The worked examples of the papers that are about counting, with their numbers."""

from itertools import pairwise

import pytest

from engine.streams import count

COGRA = "a1 b2 a3 a4 c5 b6 a7 b8"
COGRA_PATTERN = "(SEQ(A+, B))+"
HAMLET = "a1 a2 c3 b4 b5 b6 b7"
SHARON = "a1 b2 a3 c3 b4 b5 d5 c7 d8"


def prefixes_up_to_each(letter: str, text: str) -> list[str]:
    tokens = text.split()
    return [" ".join(tokens[: i + 1]) for i, token in enumerate(tokens) if token[0] == letter]


@pytest.mark.parametrize(
    ("semantics", "trends"),
    [("skip-till-any-match", 43), ("skip-till-next-match", 8), ("contiguous", 2)],
)
def test_cogra_example_2_2_tables_6_and_8(semantics: str, trends: int) -> None:
    assert count(COGRA_PATTERN, COGRA, semantics) == trends


def test_cogra_table_6_counts_of_type_a() -> None:
    """A.count: the partial trends that end in an A, which this pattern finishes there."""
    ending_in_a = "SEQ((SEQ(A+, B))*, A+)"
    counts = [count(ending_in_a, prefix) for prefix in prefixes_up_to_each("a", COGRA)]
    assert counts == [1, 4, 10, 32]


def test_cogra_table_6_counts_of_type_b() -> None:
    counts = [count(COGRA_PATTERN, prefix) for prefix in prefixes_up_to_each("b", COGRA)]
    assert counts == [1, 11, 43]


def test_cogra_example_5_1_table_7() -> None:
    """Every a is a neighbour of every earlier b, except the pair b6, a7."""
    x = [0, 0, 0, 0, 0, 1, 1, 0]  # one for b6 and a7 only
    where = "B.x + NEXT(A).x < 2"
    assert count(COGRA_PATTERN, COGRA, where=where, attributes={"x": x}) == 33


@pytest.mark.parametrize(("pattern", "trends"), [("SEQ(A, B+)", 30), ("SEQ(C, B+)", 15)])
def test_hamlet_figure_4_and_table_3(pattern: str, trends: int) -> None:
    assert count(pattern, HAMLET) == trends


@pytest.mark.parametrize(("pattern", "snapshot"), [("SEQ(A, B+)", 2), ("SEQ(C, B+)", 1)])
def test_hamlet_table_3_snapshot_x_and_its_coefficients(pattern: str, snapshot: int) -> None:
    """The trends that end at each b of the graphlet are x, 2x, 4x, 8x."""
    totals = [0] + [count(pattern, prefix) for prefix in prefixes_up_to_each("b", HAMLET)]
    ending = [after - before for before, after in pairwise(totals)]
    assert ending == [snapshot * coefficient for coefficient in (1, 2, 4, 8)]


@pytest.mark.parametrize(("pattern", "snapshot"), [("SEQ(A, B+)", 34), ("SEQ(C, B+)", 19)])
def test_hamlet_table_4_snapshot_y(pattern: str, snapshot: int) -> None:
    """After graphlet B3 come A4 with sum 2 and C5 with sum 3; y is what the next b continues."""
    before = HAMLET + " a8 a9 c10 c11 c12"
    assert count(pattern, before + " b13") - count(pattern, before) == snapshot


def test_sharon_figure_7() -> None:
    """count(A, B) is 1 when c3 arrives and 5 when c7 arrives; all in all 7 sequences."""
    assert count("SEQ(A, B)", "a1 b2") == 1
    assert count("SEQ(A, B)", "a1 b2 a3 b4 b5") == 5
    assert count("SEQ(A, B, C, D)", SHARON) == 7
