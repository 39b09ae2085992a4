"""Which queries ordered runs take."""

import pyarrow as pa
import pytest

from plan.supporting import supports
from runtime.language.parser import parse
from runtime.plan.operators.range_index.declaration import RANGE_INDEX

TYPES = {
    "x": pa.int64(),
    "y": pa.float64(),
    "b": pa.bool_(),
    "t": pa.timestamp("us"),
    "u": pa.uint64(),
    "s": pa.string(),
}


def taken(pattern: str, where: str, returns: str = "COUNT(*)", semantics: str = "") -> bool:
    chosen = f"SEMANTICS {semantics}" if semantics else ""
    text = f"RETURN {returns} PATTERN {pattern} {chosen} WHERE {where} WITHIN 10 s"
    (query,) = parse(text)
    return supports(RANGE_INDEX, query, TYPES)


@pytest.mark.parametrize(
    "where",
    [
        "B.x < NEXT(B).x",
        "NEXT(B).x >= B.x",
        "B.x != NEXT(B).b",
        "B.t = NEXT(B).t",
        "B.y <= NEXT(B).y AND B.x > 3",
        "A.x < NEXT(B).x AND B.y > NEXT(B).y",
    ],
)
def test_comparisons_of_two_attributes(where: str) -> None:
    assert taken("SEQ(A, B+)", where)


@pytest.mark.parametrize(
    "where",
    [
        "B.x > 3",
        "B.s < NEXT(B).s",
        "B.x < NEXT(B).y",
        "B.x < NEXT(B).u",
        "B.x + 1 < NEXT(B).x",
        "B.x < NEXT(B).x AND B.y < NEXT(B).y",
        "(B.x < NEXT(B).x OR B.y < NEXT(B).y)",
        "B.x < NEXT(B).x AND LENGTH >= 3",
    ],
)
def test_other_conditions_go_elsewhere(where: str) -> None:
    assert not taken("SEQ(A, B+)", where)


def test_other_patterns_and_aggregates_go_elsewhere() -> None:
    where = "B.x < NEXT(B).x"
    assert not taken("SEQ(A, NOT C, B+)", where)
    assert not taken("SEQ(A, B+)", where, semantics="skip-till-next-match")
    assert not taken("SEQ(A, B+)", where, semantics="contiguous")
    assert not taken("SEQ(A+, A+, B+)", where)
    assert not taken("A & B+", where)
    assert not taken("SEQ(A, B+)", where, "MIN(B.s)")
    assert taken("SEQ(A, B+)", where, "MIN(B.y), COUNT(B)")
