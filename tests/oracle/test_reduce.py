"""Reducing a case keeps what makes it fail, and nothing else."""

from dataclasses import replace

from oracle.enumerator import enumerate_query
from oracle.model import (
    Aggregate,
    Attr,
    Compare,
    Const,
    Event,
    Leaf,
    Not,
    Opt,
    Plus,
    Query,
    Seq,
    to_text,
)
from oracle.random_cases import Case
from oracle.reduce import reduced

A, B, X = (Leaf(name) for name in "ABX")


def wrong_result(query: Query, case: Case) -> object:
    """As of a product that overlooks a NOT of several events."""
    if isinstance(query.pattern, Seq):
        parts = query.pattern.parts
        seen = tuple(p for p in parts if not (isinstance(p, Not) and isinstance(p.inner, Seq)))
        query = replace(query, pattern=Seq(seen))
    return enumerate_query(query, case.events)


def fails(case: Case) -> bool:
    return any(enumerate_query(q, case.events) != wrong_result(q, case) for q in case.queries)


def test_a_case_is_reduced_to_what_fails() -> None:
    query = Query(
        name="long",
        pattern=Seq((Plus(Leaf("A", "a1")), Not(Seq((X, Plus(X)))), Seq((Opt(B), Plus(B))))),
        returns=(Aggregate(), Aggregate("COUNT", "B")),
        local=(Compare("<", Attr("A", "x"), Const(9)),),
        group_by=("g",),
        min_length=2,
    )
    events = tuple(Event(time, name, {"x": 1, "g": 1}) for time, name in enumerate("ABAXBXABBX"))
    case = Case((Query(A), query, Query(B)), events, "strict", {"x": "int", "g": "int"})
    small = reduced(case, fails)
    (left,) = small.queries
    assert to_text(left).split("\n") == [
        "RETURN COUNT(*)",
        "PATTERN SEQ(A, NOT SEQ(X, X))",
        "SEMANTICS skip-till-any-match",
        "WITHIN 1 seconds",
    ]
    assert [event.type for event in small.events] == ["A", "X", "X"]
