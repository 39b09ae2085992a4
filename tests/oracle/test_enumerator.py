"""The enumerator against the papers' numbers and against cases that were counted by hand."""

import re
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from oracle.choices import Size
from oracle.enumerator import (
    AmbiguousBinding,
    Scope,
    Trend,
    enumerate_query,
    enumerate_trends,
    moments,
    readings,
    scopes,
)
from oracle.model import (
    ANY,
    CONTIGUOUS,
    NEXT,
    Aggregate,
    AllOf,
    And,
    AnyOf,
    Arith,
    Attr,
    Between,
    Compare,
    Const,
    Event,
    GroupItem,
    In,
    IsNull,
    Leaf,
    Minus,
    Negate,
    Not,
    Opt,
    Or,
    Pattern,
    Plus,
    Query,
    Seq,
    Star,
    Window,
    expression_text,
    leaves,
    to_text,
)
from oracle.random_cases import Case, cases

A, B, C, D, X, Y = (Leaf(name) for name in "ABCDXY")
COGRA = "a1 b2 a3 a4 c5 b6 a7 b8"
COGRA_PATTERN = Plus(Seq((Plus(A), B)))


def stream(text: str, **attributes: list[Any]) -> list[Event]:
    """Events from tokens such as `a1`; a list of values for each attribute."""
    tokens, columns = text.split(), attributes.values()
    rows = [dict(zip(attributes, row, strict=True)) for row in zip(*columns, strict=True)]
    return [
        Event(int(token[1:]), token[0].upper(), row)
        for token, row in zip(tokens, rows or [{}] * len(tokens), strict=True)
    ]


def trends(pattern: Pattern, text: str, ties: str = "strict", **clauses: Any) -> set[str]:
    """The trends as text: `a1 b2`."""
    found = enumerate_trends(Query(pattern, **clauses), stream(text), ties)
    written = [" ".join(f"{e.type.lower()}{e.time}" for e in trend) for trend in found]
    assert len(set(written)) == len(written)
    return set(written)


def count(pattern: Pattern, text: str, **clauses: Any) -> int:
    rows = enumerate_query(Query(pattern, **clauses), stream(text))
    return sum(row["COUNT(*)"] for row in rows.values())


def only_row(query: Query, events: list[Event]) -> dict[str, Any]:
    (row,) = enumerate_query(query, events).values()
    return row


def is_less(name: str, other: str, attribute: str = "x") -> Compare:
    return Compare("<", Attr(name, attribute), Attr(other, attribute, next=True))


# ---- worked examples of the papers ----


@pytest.mark.parametrize(("semantics", "expected"), [(ANY, 43), (NEXT, 8), (CONTIGUOUS, 2)])
def test_cogra_examples_2_2_to_6_2(semantics: str, expected: int) -> None:
    assert count(COGRA_PATTERN, COGRA, semantics=semantics) == expected


def test_cogra_tables_6_and_8_type_counts() -> None:
    """The counts of a type after each of its events: partial trends that end in that type."""
    tokens = COGRA.split()
    type_counts: dict[str, list[int]] = {"A": [], "B": []}
    for place, token in enumerate(tokens, 1):
        ended = partial_trends_by_end(tokens[:place])
        if token[0] in "ab":
            type_counts[token[0].upper()].append(ended[token[0].upper()])
    assert type_counts == {"A": [1, 4, 10, 32], "B": [1, 11, 43]}


def partial_trends_by_end(tokens: list[str]) -> dict[str, int]:
    events = tuple(stream(" ".join(tokens)))
    scope = Scope(Query(COGRA_PATTERN), events, moments(events, "strict"))
    ended = [t[-1].type for t in scope.partial_trends(COGRA_PATTERN, events)]
    return {name: ended.count(name) for name in "AB"}


def test_cogra_example_5_1() -> None:
    """Every a is a neighbour of every earlier b, except that a7 is none of b6."""
    events = stream(COGRA, x=[1, 0, 1, 1, 0, 2, 1, 0])
    query = Query(COGRA_PATTERN, adjacent=(is_less("B", "A"),))
    assert only_row(query, events) == {"COUNT(*)": 33}


def test_hamlet_figure_4_and_table_3() -> None:
    events = "a1 a2 c3 b4 b5 b6 b7"
    assert count(Seq((A, Plus(B))), events) == 30
    assert count(Seq((C, Plus(B))), events) == 15


def test_hamlet_table_4_snapshot_y() -> None:
    """The snapshot is the number of trends that the next b ends."""
    before, after = "a1 a2 c3 b4 b5 b6 b7", "a1 a2 c3 b4 b5 b6 b7 a8 a9 c10 c11 c12 b13"
    q1, q2 = Seq((A, Plus(B))), Seq((C, Plus(B)))
    assert count(q1, after) - count(q1, before) == 34
    assert count(q2, after) - count(q2, before) == 19


def test_sharon_figure_7() -> None:
    assert count(Seq((A, B, C, D)), "a1 b2 a3 c3 b4 b5 d5 c7 d8") == 7
    assert count(Seq((A, B)), "a1 b2 a3") == 1
    assert count(Seq((A, B)), "a1 b2 a3 c3 b4 b5 d5") == 5


# ---- patterns ----


def test_a_trend_counts_once_however_many_bindings() -> None:
    assert trends(Seq((Plus(A), Plus(A))), "a1 a2 a3") == {"a1 a2", "a1 a3", "a2 a3", "a1 a2 a3"}
    assert trends(Or((Plus(A), Seq((A, A)))), "a1 a2") == {"a1", "a2", "a1 a2"}
    assert trends(Plus(Plus(A)), "a1 a2") == {"a1", "a2", "a1 a2"}


def test_star_and_optional() -> None:
    assert trends(Seq((A, Star(B), C)), "a1 b2 b3 c4") == {
        "a1 c4",
        "a1 b2 c4",
        "a1 b3 c4",
        "a1 b2 b3 c4",
    }
    assert trends(Seq((Opt(A), B)), "a1 b2") == {"b2", "a1 b2"}
    assert trends(Seq((A, Plus(Opt(B)), C)), "a1 b2 c3") == {"a1 c3", "a1 b2 c3"}


def test_nested_kleene() -> None:
    """Rounds of A and perhaps some B: every row of a's and b's that begins with an a."""
    pattern = Plus(Seq((A, Star(B))))
    assert count(pattern, "a1 b2 a3") == len({"a", "ab", "a a", "ab a", "a3"})


def test_a_conjunction_counts_pairs() -> None:
    assert count(And(A, B), "a1 b2 b3") == 2
    # P has a1, a2, a1 a2 and Q has a1, a2, so that C1 = 1, C2 = 0, C12 = 2.
    assert count(And(Plus(A), A), "a1 a2") == 1 * 0 + 1 * 2 + 0 * 2 + 2 * 1 // 2
    assert count(And(A, A), "a1") == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Plus(A), Seq((A, Star(A), A))),
        (Or((A, B)), Plus(A)),
        (Seq((A, Plus(B))), Seq((Plus(A), B))),
    ],
)
def test_a_conjunction_follows_the_formula(left: Pattern, right: Pattern) -> None:
    text = "a1 b2 a3 b4 a5"
    p, q = trends(left, text), trends(right, text)
    c1, c2, c12 = len(p - q), len(q - p), len(p & q)
    expected = c1 * c2 + c1 * c12 + c2 * c12 + c12 * (c12 - 1) // 2
    assert count(And(left, right), text) == expected


NEGATIONS = {
    "of several events": (Seq((A, Not(Seq((X, Y))), B)), "a1 x2 a3 y4 b5", {"a3 b5"}),
    "middle": (Seq((A, Not(X), B)), "a1 x2 a3 b4", {"a3 b4"}),
    "first": (Seq((Not(X), A)), "a1 x2 a3", {"a1"}),
    "last": (Seq((A, Not(X))), "a1 x2 a3", {"a3"}),
    "first and last": (Seq((Not(X), A, Not(Y))), "a1 x2 a3 y4", set()),
    "beside an empty part": (Seq((A, Not(X), Opt(B), C)), "a1 b2 x3 c4", {"a1 b2 c4"}),
    "first beside an empty part": (Seq((Opt(B), Not(X), C)), "b1 x2 c3", set()),
    "nested": (Seq((A, Seq((Not(X), B)))), "a1 x2 b3 a4 b5", {"a4 b5"}),
    "first in a nested part": (Seq((Seq((Not(X), A)), B)), "a1 x2 a3 b4", {"a1 b4"}),
    "repeated": (
        Plus(Seq((A, Not(X), B))),
        "a1 b2 x3 a4 b5",
        {"a1 b2", "a4 b5", "a1 b2 a4 b5"},
    ),
    "last in a repeated part": (Plus(Seq((A, Not(X)))), "a1 x2 a3", {"a3"}),
    "in one side of an or": (Or((Seq((A, Not(X))), Seq((A, B)))), "a1 x2 b3", {"a1 b3"}),
    "of a type of the pattern": (Seq((A, Not(A), B)), "a1 a2 b3", {"a2 b3"}),
    "of a Kleene part": (Seq((A, Not(Seq((X, Star(Y), X))), B)), "a1 x2 a3 y4 x5 b6", {"a3 b6"}),
    "of an or": (Seq((A, Not(Or((X, Y))), B)), "a1 x2 a3 y4 a5 b6", {"a5 b6"}),
    "in a NOT, kept away": (Seq((A, Not(Seq((X, Not(Y), X))), B)), "a1 x2 y3 x4 b5", {"a1 b5"}),
    "in a NOT, not kept away": (Seq((A, Not(Seq((X, Not(Y), X))), B)), "a1 x2 x4 b5", set()),
    "two in one gap": (Seq((A, Not(X), Not(Y), B)), "a1 x2 a3 y4 a5 b6", {"a5 b6"}),
    "at the same time as a neighbour": (Seq((A, Not(X), B)), "a1 x1 x3 b3", {"a1 b3"}),
}


@pytest.mark.parametrize("title", NEGATIONS)
def test_negation(title: str) -> None:
    pattern, text, expected = NEGATIONS[title]
    assert trends(pattern, text) == expected


def test_negation_reaches_to_the_ends_of_the_window() -> None:
    assert trends(Seq((A, Not(X))), "a1 x5", window=Window(4)) == {"a1"}
    assert trends(Seq((A, Not(X))), "a1 x5", window=Window(8)) == set()
    assert trends(Seq((Not(X), A)), "x3 a5", window=Window(4)) == {"a5"}
    two_events = Window(2, unit="events")
    assert trends(Seq((Not(X), A)), "x1 b2 a3 c4", window=two_events) == {"a3"}


# ---- semantics and ties ----


def test_skip_till_next_match() -> None:
    assert trends(Seq((A, B, C)), "a1 b2 a3 c4", semantics=NEXT) == {"a1 b2 c4"}
    # It is on the whole pattern: b2 extends a1, so c3 may not be the second event.
    either = Or((Seq((A, B)), Seq((A, C))))
    assert trends(either, "a1 b2 c3", semantics=NEXT) == {"a1 b2"}
    # A NOT behind the last event plays no part in what can extend a1.
    assert trends(Seq((A, B, Not(X))), "a1 b2 x3 b4", semantics=NEXT) == set()
    # A NOT in between does: b4 cannot extend a1, so that c5 is the next event that can.
    guarded = Seq((A, Or((Seq((Not(X), B)), C))))
    assert trends(guarded, "a1 x2 b4 c5", semantics=NEXT) == {"a1 c5"}


def test_skip_till_next_match_with_several_predecessors() -> None:
    """Where a2 does not extend a1, b3 can follow either of them."""
    query = Query(Seq((Plus(A), B)), semantics=NEXT, adjacent=(is_less("A", "A"),))
    rising, falling = ([1, 2, 0], [2, 1, 0])
    found = enumerate_trends(query, stream("a1 a2 b3", x=rising))
    assert sorted(len(trend) for trend in found) == [2, 3]
    found = enumerate_trends(query, stream("a1 a2 b3", x=falling))
    assert sorted(len(trend) for trend in found) == [2, 2]


def test_contiguous() -> None:
    pattern = Seq((A, B))
    assert trends(pattern, "a1 z2 b3 a4 b5", semantics=CONTIGUOUS) == {"a4 b5"}
    assert trends(pattern, "a1 z1 b2", semantics=CONTIGUOUS) == {"a1 b2"}


def test_ties() -> None:
    pattern = Seq((A, B))
    assert trends(pattern, "a1 b1") == set()
    assert trends(pattern, "a1 b1", ties="arrival") == {"a1 b1"}
    assert trends(pattern, "b1 a1", ties="arrival") == set()
    assert trends(Seq((A, Not(X), B)), "a1 x1 b2", ties="arrival") == set()
    assert trends(pattern, "a1 z1 b1", ties="arrival", semantics=CONTIGUOUS) == set()


def test_of_several_next_events_at_one_time_any_may_be_taken() -> None:
    events = stream("a1 b2 b2")
    query = Query(Seq((A, B)), semantics=NEXT)
    assert len(enumerate_trends(query, events)) == 2
    assert len(enumerate_trends(query, events, ties="arrival")) == 1


def test_least_length() -> None:
    assert count(Plus(A), "a1 a2 a3", min_length=2) == 4
    assert count(And(Plus(A), Plus(A)), "a1 a2", min_length=2) == 0


# ---- conditions ----

NAN = float("nan")
AX = Attr("A", "x")
LOCAL = {
    "less": (Compare("<", AX, Const(2)), [1]),
    "null is not unequal": (Compare("!=", AX, Const(1)), [2, 3]),
    "not of unknown": (Negate(Compare("=", AX, Const(1))), [2, 3]),
    "is null": (IsNull(AX), [None, NAN]),
    "is not null": (IsNull(AX, negated=True), [1, 2, 3]),
    "in": (In(AX, (Const(1), Const(3))), [1, 3]),
    "not in": (Negate(In(AX, (Const(1), Const(3)))), [2]),
    "between": (Between(AX, Const(2), Const(9)), [2, 3]),
    "unknown or true": (AnyOf((Compare("=", AX, Const(1)), IsNull(AX))), [1, None, NAN]),
    "unknown and true": (AllOf((Compare("=", AX, Const(1)), Negate(IsNull(AX)))), [1]),
    "false and unknown": (
        Negate(AllOf((IsNull(AX, negated=True), Compare("=", AX, Const(1))))),
        [2, 3, None, NAN],
    ),
    "division by zero is null": (
        IsNull(Arith("/", Const(1), Arith("-", AX, Const(2)))),
        [2, None, NAN],
    ),
    "remainder": (Compare("=", Arith("%", AX, Const(2)), Const(1)), [1, 3]),
    "minus": (Compare(">", Minus(AX), Const(-2.5)), [1, 2]),
    "halves": (Compare("=", Arith("/", AX, Const(2)), Const(0.5)), [1]),
    "none": (Compare(">", AX, Const(100)), []),
}


@pytest.mark.parametrize("title", LOCAL)
def test_local_condition(title: str) -> None:
    condition, expected = LOCAL[title]
    events = stream("a1 a2 a3 a4 a5", x=[1, 2, 3, None, NAN])
    found = enumerate_trends(Query(A, local=(condition,)), events)
    values = {repr(trend[0].attributes["x"]) for trend in found}
    assert values == {repr(value) for value in expected}


def test_a_condition_is_on_an_alias_or_on_a_type() -> None:
    pattern = Seq((Leaf("A", "u"), A))
    events = stream("a1 a2", x=[1, 5])
    small = Const(3)
    on_alias = Query(pattern, local=(Compare("<", Attr("u", "x"), small),))
    on_type = Query(pattern, local=(Compare("<", Attr("A", "x"), small),))
    assert len(enumerate_trends(on_alias, events)) == 1
    assert len(enumerate_trends(on_type, events)) == 0


def test_a_condition_can_choose_between_bindings() -> None:
    """Either of two a's may be u; one binding that meets the condition is enough."""
    pattern = Seq((Opt(Leaf("A", "u")), Plus(A)))
    query = Query(pattern, local=(Compare(">", Attr("u", "x"), Const(100)),))
    assert len(enumerate_trends(query, stream("a1 a2", x=[1, 1]))) == 3


def test_adjacent_condition() -> None:
    rising = Query(Plus(A), adjacent=(is_less("A", "A"),))
    assert len(enumerate_trends(rising, stream("a1 a2 a3", x=[1, 3, 2]))) == 5
    assert len(enumerate_trends(rising, stream("a1 a2 a3", x=[1, None, 2]))) == 4
    # Only neighbours: with b between them, the a's may fall.
    around = Query(Seq((A, Opt(B), A)), adjacent=(is_less("A", "A"),))
    assert len(enumerate_trends(around, stream("a1 b2 a3", x=[2, 0, 1]))) == 1


def test_adjacent_condition_across_a_negation() -> None:
    query = Query(Seq((A, Not(X), B)), adjacent=(is_less("A", "B"),))
    assert len(enumerate_trends(query, stream("a1 b2 b3", x=[1, 0, 2]))) == 1


def test_conditions_inside_a_negation() -> None:
    pattern = Seq((A, Not(Seq((X, Leaf("Y", "v")))), B))
    query = Query(pattern, adjacent=(is_less("X", "v"),))
    assert len(enumerate_trends(query, stream("a1 x2 y3 b4", x=[0, 1, 2, 0]))) == 0
    assert len(enumerate_trends(query, stream("a1 x2 y3 b4", x=[0, 2, 1, 0]))) == 1
    local = Query(pattern, local=(Compare("=", Attr("v", "x"), Const(7)),))
    assert len(enumerate_trends(local, stream("a1 x2 y3 b4", x=[0, 1, 2, 0]))) == 1


# ---- partitions and windows ----


def test_partitions_keep_trends_apart_and_groups_combine_them() -> None:
    events = stream(
        "a1 b2 a3 b4 b5",
        g=["p", "p", "p", "p", "p"],
        h=[1, 1, None, NAN, 1],
        x=[0, 10, 0, 20, None],
    )
    query = Query(
        Seq((A, B)),
        returns=(Aggregate(), Aggregate("AVG", "B", "x"), Aggregate("MAX", "B", "x")),
        equivalence=("h",),
        group_by=("g",),
    )
    # (a1, b2), (a1, b5) and, with null as a value of its own, (a3, b4).
    assert enumerate_query(query, events) == {
        (0, 1_000_000, ("p",)): {"COUNT(*)": 3, "AVG(B.x)": 15, "MAX(B.x)": 20}
    }


def test_a_null_group() -> None:
    events = stream("a1 a2", g=[NAN, 1])
    rows = enumerate_query(Query(A, group_by=("g",)), events)
    assert {key[2] for key in rows} == {(None,), (1,)}


def test_time_windows_align_to_zero_and_begin_before_the_first_event() -> None:
    rows = enumerate_query(Query(Plus(A), window=Window(4, 2)), stream("a-1 a1 a2"))
    assert {key[:2]: row["COUNT(*)"] for key, row in rows.items()} == {
        (-4, 0): 1,
        (-2, 2): 3,
        (0, 4): 3,
        (2, 6): 1,
    }


def test_count_windows_are_full() -> None:
    query = Query(Plus(A), window=Window(3, 2, "events"))
    rows = enumerate_query(query, stream("z1 a2 a3 z4 a5 a6"))
    assert {key[:2]: row["COUNT(*)"] for key, row in rows.items()} == {(0, 2): 3, (2, 4): 3}


def test_count_windows_order_ties_by_arrival() -> None:
    query = Query(A, window=Window(1, unit="events"))
    assert set(enumerate_query(query, stream("a5 z1 a1"))) == {(1, 1, ()), (2, 2, ())}


# ---- results ----


def test_aggregates() -> None:
    functions = ("SUM", "MIN", "MAX", "AVG", "VARIANCE", "STDDEV")
    returns = (
        Aggregate(),
        Aggregate("COUNT", "A"),
        Aggregate("COUNT", "C"),
        *(Aggregate(function, "A", "x", function.lower()) for function in functions),
        *(Aggregate(function, "C", "x") for function in functions),
    )
    events = stream("a1 a2 b3", x=[1, None, 0])
    # The trends are (a1, b3), (a2, b3) and (a1, a2, b3).
    assert only_row(Query(Seq((Plus(A), B, Star(C))), returns), events) == {
        "COUNT(*)": 3,
        "COUNT(A)": 4,
        "COUNT(C)": 0,
        "sum": 2,
        "min": 1,
        "max": 1,
        "avg": 1,
        "variance": 0,
        "stddev": 0,
        "SUM(C.x)": None,
        "MIN(C.x)": None,
        "MAX(C.x)": None,
        "AVG(C.x)": None,
        "VARIANCE(C.x)": None,
        "STDDEV(C.x)": None,
    }


def test_variance_is_over_the_values_of_all_trends() -> None:
    returns = (Aggregate("VARIANCE", "A", "x"), Aggregate("STDDEV", "A", "x"))
    # The trends are (a1), (a2) and (a1, a2), so the values are 0, 3, 0 and 3.
    row = only_row(Query(Plus(A), returns), stream("a1 a2", x=[0, 3]))
    assert row == {"VARIANCE(A.x)": Fraction(9, 4), "STDDEV(A.x)": 1.5}
    # (a1), (a2), (b3 is no A): the mean of 0 and 1 is 1/2, each is 1/2 away.
    row = only_row(Query(A, returns), stream("a1 a2 b3", x=[0, 1, 7]))
    assert row == {"VARIANCE(A.x)": Fraction(1, 4), "STDDEV(A.x)": 0.5}


def test_deviations_are_rounded_once() -> None:
    # The variance of 0, 0 and 3 is 2.
    row = only_row(Query(A, (Aggregate("STDDEV", "A", "x"),)), stream("a1 a2 a3", x=[0, 0, 3]))
    assert row == {"STDDEV(A.x)": 2**0.5}


def test_sums_of_doubles_are_exact() -> None:
    events = stream("a1 a2", x=[0.1, 1e300])
    row = only_row(Query(A, (Aggregate("SUM", "A", "x"), Aggregate("AVG", "A", "x"))), events)
    assert row["SUM(A.x)"] == Fraction(0.1) + Fraction(1e300)
    assert row["AVG(A.x)"] == row["SUM(A.x)"] / 2


def test_an_aggregate_by_alias_covers_what_is_bound_to_it() -> None:
    pattern = Seq((Leaf("A", "u"), Star(Leaf("A", "v"))))
    returns = (Aggregate("SUM", "u", "x"), Aggregate("COUNT", "v"), Aggregate("COUNT", "A"))
    row = only_row(Query(pattern, returns), stream("a1 a2", x=[1, 10]))
    assert row == {"SUM(u.x)": 12, "COUNT(v)": 1, "COUNT(A)": 4}


def test_an_alias_without_a_unique_binding() -> None:
    pattern = Seq((Plus(Leaf("A", "u")), Plus(A)))
    query = Query(pattern, (Aggregate("COUNT", "u"),))
    with pytest.raises(AmbiguousBinding):
        enumerate_query(query, stream("a1 a2 a3"))
    assert only_row(query, stream("a1 a2")) == {"COUNT(u)": 1}


def test_having() -> None:
    events = stream("a1 a2 a11", x=[1, 1, None])
    more = Compare(">", Aggregate(), Const(1))
    assert set(enumerate_query(Query(A, window=Window(10), having=more), events)) == {(0, 10, ())}
    of_null = Compare("<", Aggregate("SUM", "A", "x"), Const(100))
    assert set(enumerate_query(Query(A, window=Window(10), having=of_null), events)) == {
        (0, 10, ())
    }


def test_a_window_without_a_trend_has_no_row() -> None:
    assert enumerate_query(Query(Seq((A, B))), stream("a1 a2")) == {}
    assert enumerate_query(Query(A), []) == {}


# ---- the enumerator's short cuts ----

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def sides(pattern: Pattern) -> tuple[Pattern, ...]:
    return (pattern.left, pattern.right) if isinstance(pattern, And) else (pattern,)


def ordered_subsets(scope: Scope) -> list[Trend]:
    return [
        subset
        for length in range(1, len(scope.events) + 1)
        for subset in combinations(scope.events, length)
        if all(scope.precedes(e, f) for e, f in pairwise(subset))
    ]


@FEW
@given(cases(Size(queries=1, events=8, load=6)))
def test_growing_partial_trends_loses_none(case: Case) -> None:
    """Testing every set of events against the definition gives the same trends."""
    (query,) = case.queries
    for _, scope in scopes(query, case.events, case.ties):
        for side in sides(query.pattern):
            found = list(scope.trends(side))
            tested = [t for t in ordered_subsets(scope) if scope.is_trend(side, t)]
            assert len(found) == len(tested)
            assert set(found) == set(tested)


def expression(pattern: Pattern) -> str:
    """The pattern as a regular expression; a NOT takes no event."""
    match pattern:
        case Leaf(name):
            return name
        case Not():
            return ""
        case Seq(parts):
            return "".join(map(expression, parts))
        case Or(parts):
            return f"(?:{'|'.join(map(expression, parts))})"
        case Plus(inner):
            return f"(?:{expression(inner)})+"
        case Star(inner):
            return f"(?:{expression(inner)})*"
        case Opt(inner):
            return f"(?:{expression(inner)})?"
    raise TypeError(pattern)


@FEW
@given(cases(Size(queries=1, events=0)))
def test_readings_accept_what_a_regular_expression_does(case: Case) -> None:
    for side in sides(case.queries[0].pattern):
        compiled = re.compile(expression(side))
        types = sorted({leaf.type for leaf in leaves(side)})
        for length in range(4 if len(types) > 2 else 6):
            for word in product(types, repeat=length):
                assert bool(readings(side, word)) == bool(compiled.fullmatch("".join(word)))


# ---- text ----


def test_the_text_of_a_query() -> None:
    query = Query(
        name="trips",
        returns=(GroupItem("district", "area"), Aggregate(label="n"), Aggregate("AVG", "T", "v")),
        pattern=Seq((Leaf("2", "R"), Not(Or((X, Y))), Plus(Leaf("Travel", "T")), Star(Plus(B)))),
        semantics=NEXT,
        equivalence=("driver", "the rider"),
        local=(
            AnyOf((Compare("=", Attr("R", "kind"), Const("it's")), IsNull(Attr("R", "ok")))),
            Negate(In(Minus(Attr("R", "x")), (Const(-1), Const(True)))),
        ),
        adjacent=(is_less("T", "T", "order"),),
        min_length=3,
        group_by=("district",),
        having=Between(Aggregate(), Const(1), Arith("*", Const(2), Const(0.5))),
        window=Window(1_800_000_000, 90_000_000),
    )
    assert to_text(query).split("\n") == [
        "QUERY trips",
        "RETURN district AS area, COUNT(*) AS n, AVG(T.v)",
        'PATTERN SEQ("2" R, NOT (X | Y), Travel T+, (B+)*)',
        "SEMANTICS skip-till-next-match",
        "WHERE [driver, \"the rider\"] AND (R.kind = 'it''s' OR R.ok IS NULL)"
        " AND NOT (-R.x IN (-1, true)) AND T.order < NEXT(T).order AND LENGTH >= 3",
        "GROUP-BY district",
        "HAVING COUNT(*) BETWEEN 1 AND 2 * 0.5",
        "WITHIN 30 minutes SLIDE 90 seconds",
    ]


X_, Y_ = Attr("A", "x"), Attr("A", "y")
TEXTS = {
    "A.x - A.y - A.x": Arith("-", Arith("-", X_, Y_), X_),
    "A.x - (A.y - A.x)": Arith("-", X_, Arith("-", Y_, X_)),
    "(A.x + A.y) * A.x + 1": Arith("+", Arith("*", Arith("+", X_, Y_), X_), Const(1)),
    "-(A.x + A.y) < -(-1)": Compare("<", Minus(Arith("+", X_, Y_)), Minus(Const(-1))),
    "A.x = 1 AND A.y = 2 OR A.x IS NOT NULL": AnyOf(
        (
            AllOf((Compare("=", X_, Const(1)), Compare("=", Y_, Const(2)))),
            IsNull(X_, negated=True),
        )
    ),
    "(A.x = 1 OR A.y = 2) AND NOT (A.x IS NULL)": AllOf(
        (AnyOf((Compare("=", X_, Const(1)), Compare("=", Y_, Const(2)))), Negate(IsNull(X_)))
    ),
    "A.x + 1 BETWEEN -1 AND A.y * 2": Between(
        Arith("+", X_, Const(1)), Const(-1), Arith("*", Y_, Const(2))
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_of_an_expression(text: str) -> None:
    assert expression_text(TEXTS[text]) == text
