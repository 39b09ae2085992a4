"""Patterns and their position automata, and what a workload makes of them.

`automata.txt` has a pattern and its automaton in words: the positions a trend may start with, the
steps it may take, the positions it may end with, each with what must not happen in the gap.
"""

from itertools import product
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.golden import Goldens
from runtime.language.ambiguity import Bindings
from runtime.language.automaton import OPEN, SHUT, both, either
from runtime.language.parser import parse
from runtime.template.granularity import Granularity, granularity
from runtime.template.merged import MergedType, Transition, merge
from runtime.template.query_groups import (
    kleene_subpatterns,
    routing_groups,
    share_groups,
    shareable,
)

GOLDENS = Goldens(Path(__file__).parent / "automata.txt")
MINUTE = 60_000_000
COMPARE = {"<": lt, "<=": le, "=": eq, "!=": ne, ">=": ge, ">": gt}


def queries(*patterns, rest="WITHIN 1 minute", returns="COUNT(*)"):
    """Queries q1, q2, ... with these patterns, each perhaps followed by clauses of its own."""
    texts = [f"RETURN {returns} PATTERN {pattern} {rest}" for pattern in patterns]
    return parse("\n".join(texts)).queries


def template(pattern):
    return queries(pattern)[0].template


# ---- the automaton in words ----------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _rewritten():
    yield
    GOLDENS.write()


@pytest.mark.parametrize("key", GOLDENS.pairs)
def test_automata(key):
    pair = GOLDENS.pairs[key]
    compiled = template(pair.given)
    parts = [_in_words(compiled.automaton, compiled)]
    for number, negation in enumerate(compiled.negations):
        inner = _in_words(negation, compiled).replace("\n", "\n  ")
        parts.append(f"NOT {_match(number, compiled)}:\n  {inner}")
    GOLDENS.check(pair, "\n".join(parts))


def _in_words(automaton, compiled):
    def ends(positions):
        named = (_name(p, compiled) + _gap(guard, compiled) for p, guard in positions.items())
        return "; ".join(named)

    steps = [
        f"{_name(p, compiled)} -> {_name(q, compiled)}{_gap(guard, compiled)}"
        for p, after in automaton.follow.items()
        for q, guard in after.items()
    ]
    lines = [f"first {ends(automaton.first)}", *steps, f"last {ends(automaton.last)}"]
    return "\n".join(lines)


def _name(index, compiled):
    position = compiled.positions[index]
    side = f"/{position.side + 1}" if compiled.sides == 2 else ""
    return (position.alias or position.type) + side


def _gap(guard, compiled):
    """A guard asks for one of several sets of NOTs."""
    if guard == OPEN:
        return ""
    sets = [" and ".join(f"no {_match(n, compiled)}" for n in sorted(way)) for way in guard]
    return f" if {' or '.join(sorted(sets))}"


def _match(number, compiled):
    return "".join(p.type for p in compiled.positions if p.negation == number)


# ---- guards are a semiring -----------------------------------------------------------------


def guard(*sets):
    return frozenset(map(frozenset, sets))


def test_guards():
    x, y, z = guard([1]), guard([2]), guard([3])
    assert either(x, SHUT) == both(x, OPEN) == either(x, x) == both(x, x) == x
    assert both(x, SHUT) == SHUT
    assert either(x, OPEN) == OPEN
    assert either(x, both(x, y)) == x  # a superset is absorbed
    assert both(x, either(y, z)) == either(both(x, y), both(x, z)) == guard([1, 2], [1, 3])


# ---- bindings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "where", "example"),
    [
        ("SEQ(A, B+)", "", None),
        ("(SEQ(A+, B))+", "", None),
        ("SEQ(A x+, A y+)", "", "A A A"),
        ("SEQ(A, A)", "", None),
        ("SEQ(A?, A)", "", None),
        ("SEQ(A x?, A y?, B)", "", "A B"),
        ("(A x | A y)", "", "A"),
        ("(A | B)+", "", None),
        ("SEQ(A, B?, (A | B)*)", "", "A B"),
        ("SEQ(A x, B, A y) ", "", None),
        ("(SEQ(A x, A y?))+", "", "A A"),
        ("SEQ(A, NOT A, B)", "", None),
        # Conditions that no event meets both of tell positions apart.
        ("SEQ(A x+, A y+)", "x.v < 10 AND y.v >= 10", None),
        ("SEQ(A x+, A y+)", "x.v < 10 AND y.v >= 9", "A A A"),
        ("SEQ(A x+, A y+)", "x.v <= 10 AND y.v >= 10", "A A A"),
        ("SEQ(A x+, A y+)", "x.v < 10 AND y.v > 5 AND y.v != 7", "A A A"),
        ("SEQ(A x+, A y+)", "x.k = 'a' AND y.k = 'b'", None),
        ("SEQ(A x+, A y+)", "x.k IN ('a', 'b') AND y.k IN ('c', 'd')", None),
        ("SEQ(A x+, A y+)", "x.k IN ('a', 'b') AND y.k IN ('b', 'c')", "A A A"),
        ("SEQ(A x+, A y+)", "x.k > 'a' AND y.k < 'b'", "A A A"),
        ("SEQ(A x+, A y+)", "x.f = TRUE AND y.f = FALSE", None),
        ("SEQ(A x+, A y+)", "x.f = TRUE AND y.f != FALSE", "A A A"),
        ("SEQ(A x+, A y+)", "x.v IS NULL AND y.v IS NOT NULL", None),
        ("SEQ(A x+, A y+)", "x.v IS NULL AND y.v < 5", None),
        ("SEQ(A x+, A y+)", "NOT x.v < 5 AND y.v < 5", None),
        ("SEQ(A x+, A y+)", "(x.v < 1 OR x.v > 9) AND y.v BETWEEN 2 AND 8", None),
        ("SEQ(A x+, A y+)", "x.v < 10 AND y.w >= 10", "A A A"),  # of different attributes
        ("SEQ(A x+, A y+)", "x.v + 0 < 10 AND y.v + 0 >= 10", "A A A"),  # not looked into
        ("SEQ(A x+, A y+)", "A.v < 5 AND x.v > 9", None),
        # Where doubles leave no room between or beyond the constants, rationals do.
        ("SEQ(A x+, A y+)", "x.v > 1e16 AND y.v > 1e16", "A A A"),
        ("SEQ(A x+, A y+)", "x.v > 1e308 AND y.v > 1e308", "A A A"),
        ("SEQ(A x+, A y+)", f"x.v > {10**399 - 1} AND y.v >= 1e999", "A A A"),
        ("SEQ(A x+, A y+)", f"x.v < {10**390} AND y.v > {10**390}", None),
    ],
)
def test_can_a_trend_be_bound_in_two_ways(pattern, where, example):
    query = queries(f"{pattern} {'WHERE ' if where else ''}{where}")[0]
    assert Bindings(query.template, query.local).ambiguous == example


def _bindings_of(types, automaton, positions):
    """All ways to bind events of these types, one path of positions each."""
    paths = [[p] for p in automaton.first if positions[p].type == types[0]]
    for type_ in types[1:]:
        paths = [
            [*path, q]
            for path in paths
            for q in automaton.follow[path[-1]]
            if positions[q].type == type_
        ]
    return [path for path in paths if path[-1] in automaton.last]


_SMALL = st.recursive(
    st.sampled_from("AB"),
    lambda inner: st.one_of(
        st.builds("({})+".format, inner),
        st.builds("({})?".format, inner),
        st.builds("({} | {})".format, inner, inner),
        st.builds("({}, {})".format, inner, inner),
    ),
    max_leaves=4,
)


@given(_SMALL)
def test_bindings_against_all_short_trends(pattern):
    compiled = template(f"SEQ(C, {pattern})")
    answer = Bindings(compiled, ()).ambiguous

    def count(types):
        return len(_bindings_of(types, compiled.automaton, compiled.positions))

    shortest = len(answer.split()) if answer else 7
    assert answer is None or count(answer.split()) > 1
    for length in range(min(shortest - 1, 6)):
        assert all(count(["C", *types]) <= 1 for types in product("AB", repeat=length))


# A condition as text, and its truth for a value: true, false, or None for unknown.
_COMPARED = st.sampled_from(["<", "<=", "=", "!=", ">=", ">"])
_ATOMS = st.builds(
    lambda operator, c: (
        f"v {operator} {c}",
        lambda v: None if v is None else COMPARE[operator](v, c),
    ),
    _COMPARED,
    st.integers(-2, 2),
) | st.sampled_from(
    [("v IS NULL", lambda v: v is None), ("v IS NOT NULL", lambda v: v is not None)]
)


def _inverted(one):
    return f"NOT ({one[0]})", lambda v: None if one[1](v) is None else not one[1](v)


def _joined(one, word, other):
    decisive = word == "OR"

    def truth(v):
        values = {one[1](v), other[1](v)}
        return decisive if decisive in values else None if None in values else not decisive

    return f"({one[0]} {word} {other[0]})", truth


_CONDITIONS = st.recursive(
    _ATOMS,
    lambda inner: (
        st.builds(_inverted, inner)
        | st.builds(_joined, inner, st.sampled_from(["AND", "OR"]), inner)
    ),
    max_leaves=4,
)


@given(_CONDITIONS, _CONDITIONS)
def test_conditions_exclude_each_other_if_no_value_meets_both(one, other):
    texts = one[0].replace("v", "x.v"), other[0].replace("v", "y.v")
    [query] = queries(f"SEQ(A x+, A y+) WHERE {texts[0]} AND {texts[1]}")
    values = [None, *(n / 2 for n in range(-6, 7))]
    meet = any(one[1](v) and other[1](v) for v in values)
    assert (Bindings(query.template, query.local).ambiguous is not None) == meet


def test_bindings_that_differ_only_elsewhere():
    bindings = Bindings(template("SEQ(A x, B y+, B z+)"), ())
    assert bindings.difference(frozenset([0])) is None
    assert bindings.difference(frozenset([1])) == (
        "a trend of A B B B can be bound as (x, y, y, z) and as (x, y, z, z)"
    )


def test_positions_without_an_alias_are_numbered_where_their_type_is_not_enough():
    bindings = Bindings(template("SEQ(A, (B | B x), C)"), ())
    assert bindings.difference(frozenset([2])) == (
        "a trend of A B C can be bound as (A, B#1, C) and as (A, x, C)"
    )


# ---- the merged template -------------------------------------------------------------------


def test_figure_3b_of_hamlet():
    merged = merge(queries("SEQ(A, B+)", "SEQ(C, B+)"))
    assert merged.types == (
        MergedType("A", starts=("q1",), ends=(), negated=()),
        MergedType("B", starts=(), ends=("q1", "q2"), negated=()),
        MergedType("C", starts=("q2",), ends=(), negated=()),
    )
    assert merged.transitions == (
        Transition("A", "B", ("q1",), ()),
        Transition("B", "B", ("q1", "q2"), ()),
        Transition("C", "B", ("q2",), ()),
    )
    assert merged.predecessors("B", "q1") == ("A", "B")
    assert merged.predecessors("B", "q2") == ("B", "C")
    assert merged.predecessors("A", "q1") == ()
    assert merged.predecessors("A", "q2") == ()


def test_figure_8_of_hamlet_nested_kleene():
    merged = merge(queries("(SEQ(A, B+))+", "(SEQ(C, B+))+"))
    steps = {(t.source, t.target): t.queries for t in merged.transitions}
    assert steps == {
        ("A", "B"): ("q1",),
        ("B", "B"): ("q1", "q2"),
        ("B", "A"): ("q1",),
        ("C", "B"): ("q2",),
        ("B", "C"): ("q2",),
    }
    assert set(merged.predecessors("B", "q1")) == {"A", "B"}
    assert set(merged.predecessors("B", "q2")) == {"C", "B"}
    assert merged.predecessors("A", "q1") == ("B",)
    assert merged.predecessors("C", "q2") == ("B",)


def test_a_merged_template_says_what_is_forbidden_where():
    merged = merge(queries("SEQ(A, NOT X, B)", "SEQ(A, B)"))
    assert merged.transitions == (Transition("A", "B", ("q1", "q2"), guarded=("q1",)),)
    assert MergedType("X", starts=(), ends=(), negated=("q1",)) in merged.types


def test_a_type_stands_once_however_often_a_pattern_names_it():
    merged = merge(queries("SEQ(A x, B, A y+)"))
    assert [t.type for t in merged.types] == ["A", "B"]
    steps = {(t.source, t.target) for t in merged.transitions}
    assert steps == {("A", "B"), ("B", "A"), ("A", "A")}


# ---- what queries share --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("SEQ(A, B)", ()),
        ("SEQ(A, B+)", ("B+",)),
        ("SEQ(A a+, B b*)", ("A+", "B+")),
        ("(SEQ(A, B+))+", ("SEQ(A, B+)+", "B+")),
        ("(A+)+", ("A+",)),
        ("SEQ(A, (B | C)+)", ("(B | C)+",)),
        ("SEQ(A, NOT X+, B)", ()),
        ("A+ & B+", ("A+", "B+")),
        ('SEQ("2" b+, A)', ('"2"+',)),
    ],
)
def test_kleene_parts(pattern, parts):
    assert kleene_subpatterns(queries(pattern)[0].pattern) == parts


def test_definition_4_shareable_kleene_parts():
    shared = shareable(queries("SEQ(A, B b+)", "SEQ(C, B x*)", "SEQ(A+, C)", "SEQ(D+, B)"))
    assert [(part.text, part.queries) for part in shared] == [("B+", ("q1", "q2"))]


def test_routing_groups_by_partition_attributes():
    workload = parse("""
        RETURN COUNT(*) PATTERN A+ WHERE [x, y] WITHIN 1 minute
        RETURN COUNT(*) PATTERN B+ WHERE [y] GROUP-BY x WITHIN 5 minutes
        RETURN COUNT(*) PATTERN A+ WITHIN 1 minute
        RETURN x, COUNT(*) PATTERN A+ GROUP-BY x WITHIN 1 minute""")
    groups = [(g.attributes, [q.name for q in g.queries]) for g in routing_groups(workload)]
    assert groups == [(("x", "y"), ["q1", "q2"]), ((), ["q3"]), (("x",), ["q4"])]


def names_of(groups):
    return [[query.name for query in group.queries] for group in groups]


def test_share_groups_are_linked_by_kleene_parts():
    """q1 and q3 have nothing in common but q2, which has a part of both."""
    groups = share_groups(queries("SEQ(A+, X)", "SEQ(A+, B+)", "SEQ(B+, Y)", "C+", "SEQ(A, B)"))
    assert names_of(groups) == [["q1", "q2", "q3"], ["q4"], ["q5"]]
    assert [(part.text, part.queries) for part in groups[0].kleene] == [
        ("A+", ("q1", "q2")),
        ("B+", ("q2", "q3")),
    ]


def test_a_later_query_links_groups_that_were_apart():
    groups = share_groups(queries("SEQ(A+, X)", "C+", "SEQ(B+, Y)", "SEQ(A+, B+)"))
    assert names_of(groups) == [["q2"], ["q1", "q3", "q4"]]


def test_what_keeps_queries_from_sharing():
    workload = parse("""
        RETURN COUNT(*) PATTERN A+ WITHIN 1 minute
        RETURN SUM(A.v) PATTERN SEQ(A+, B) WITHIN 5 minutes SLIDE 2 minutes
        RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous WITHIN 1 minute
        RETURN COUNT(*) PATTERN A+ WITHIN 10 events
        RETURN COUNT(*) PATTERN A+ GROUP-BY x WITHIN 1 minute""")
    assert names_of(share_groups(workload)) == [["q1", "q2"], ["q3"], ["q4"], ["q5"]]


def test_the_pane_of_hamlet_section_3_1():
    """Windows of 10 and of 15 minutes that slide by 5 have panes of 5 minutes."""
    workload = parse("""
        RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 minutes SLIDE 5 minutes
        RETURN COUNT(*) PATTERN SEQ(C, B+) WITHIN 15 minutes SLIDE 5 minutes""")
    [group] = share_groups(workload)
    assert group.pane == 5 * MINUTE
    assert not group.counted


def test_panes_of_windows_that_fit_badly_and_of_events():
    [group] = share_groups(queries("B+", rest="WITHIN 10 minutes SLIDE 4 minutes"))
    assert group.pane == 2 * MINUTE
    [group] = share_groups(queries("B+", rest="WITHIN 12 events SLIDE 8 events"))
    assert (group.pane, group.counted) == (4, True)


# ---- granularity ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("semantics", "adjacent", "wanted"),
    [
        ("skip-till-any-match", False, Granularity.TYPE),
        ("skip-till-any-match", True, Granularity.MIXED),
        # COGRA has PATTERN here, and loses trends by it.
        ("skip-till-next-match", False, Granularity.TYPE),
        ("skip-till-next-match", True, Granularity.MIXED),
        ("contiguous", False, Granularity.PATTERN),
        ("contiguous", True, Granularity.PATTERN),
    ],
)
def test_table_5_of_cogra_put_right(semantics, adjacent, wanted):
    where = "WHERE b.v < NEXT(b).v AND a.v > 5" if adjacent else "WHERE a.v > 5"
    [query] = queries("SEQ(A a, B b+)", rest=f"SEMANTICS {semantics} {where} WITHIN 1 minute")
    kept = granularity(query)
    assert kept.granularity is wanted
    assert kept.event_grained == (("b",) if wanted is Granularity.MIXED else ())
    assert kept.twice is None


def test_granularity_names_what_is_kept_per_event():
    rest = "WHERE A.v < NEXT(b).v AND b.v < NEXT(b).v WITHIN 1 minute"
    [query] = queries("SEQ(A, B b+)", rest=rest)
    assert granularity(query).event_grained == ("A", "b")


def test_conditions_inside_not_keep_no_event_of_a_trend():
    rest = "WHERE x.v < NEXT(y).v WITHIN 1 minute"
    [query] = queries("SEQ(A, NOT SEQ(X x, Y y), B)", rest=rest)
    assert granularity(query).granularity is Granularity.TYPE


def test_granularity_tells_of_trends_with_two_bindings():
    [query] = queries("SEQ(A+, A+)")
    assert granularity(query).twice == "A A A"
