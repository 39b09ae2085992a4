"""Right queries: what is written in the corners of the language, and what it is read as."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.errors import QueryError
from runtime.language import ast as s
from runtime.language import parser
from runtime.language.parser import parse
from runtime.language.query import Semantics
from runtime.language.splitter import SourceText, split_queries
from runtime.language.window import EventWindow, TimeWindow
from runtime.language.window_binder import parse_duration

SECOND = 1_000_000
A, B, C, D, X, Y = (s.Event(letter) for letter in "ABCDXY")


def query(pattern="SEQ(A a, B b+)", returns="COUNT(*)", rest="", within="WITHIN 1 minute"):
    """The one query of a text with these clauses."""
    return parse(f"RETURN {returns}\nPATTERN {pattern}\n{rest}\n{within}").queries[0]


def where(condition, pattern="SEQ(A a, B b+)"):
    return query(pattern, rest=f"WHERE {condition}")


def written(text):
    """The syntax of the first query of a text, whether it makes sense or not."""
    source, errors = SourceText(text), list[QueryError]()
    queries, _ = split_queries(source)
    syntax = parser._query_text(source, queries[0], errors)
    assert not errors, errors[0].render()
    return syntax


def pattern(text):
    return written(f"RETURN COUNT(*) PATTERN {text} WITHIN 1 minute").pattern


def condition(text):
    return written(f"RETURN COUNT(*) PATTERN A WHERE {text}\nWITHIN 1 minute").where


# ---- clauses -------------------------------------------------------------------------------


def test_keywords_in_any_case():
    lower = query(
        "seq(A a, not X, B b+)",
        "count(*) as n, avg(b.v)",
        "semantics CONTIGUOUS where [k] and a.v between 1 and 2 group by k having n > 1",
        "within 10 MINUTES slide 1 Minute",
    )
    upper = query(
        "SEQ(A a, NOT X, B b+)",
        "COUNT(*) AS n, AVG(b.v)",
        "SEMANTICS contiguous WHERE [k] AND a.v BETWEEN 1 AND 2 GROUP-BY k HAVING n > 1",
        "WITHIN 10 minutes SLIDE 1 minute",
    )
    assert lower.text == upper.text


def test_names_keep_their_case():
    read = query("SEQ(Travel t, travel T+)", "COUNT(t), COUNT(T), COUNT(Travel)")
    assert [lane.positions for lane in read.lanes] == [{0}, {1}]
    assert where("a.Speed < 1 AND a.speed < 2").mentions[0].attribute == "Speed"


def test_comments():
    text = """-- it's a comment, with a quote: PATTERN
    RETURN COUNT(*) -- WITHIN 5 hours
    PATTERN SEQ(A, -- first
                B) -- then
    -- WHERE A.x < 1
    WITHIN 1 minute -- the end"""
    assert parse(text).queries[0].pattern == s.Seq((A, B))
    assert condition("A.x = '--' AND A.y = 1") == s.AllOf(
        (
            s.Compare("=", s.Attribute("A", "x"), s.Literal("--")),
            s.Compare("=", s.Attribute("A", "y"), s.Literal(1)),
        )
    )
    assert condition("A.x = 5--3") == s.Compare("=", s.Attribute("A", "x"), s.Literal(5))


@pytest.mark.parametrize("group_by", ["GROUP-BY", "GROUP BY", "group  by", "Group - By", "GROUPBY"])
def test_spellings_of_group_by(group_by):
    assert query(rest=f"{group_by} district, town").group_by == ("district", "town")


def test_clauses_in_any_order():
    one = parse("RETURN COUNT(*) PATTERN A+ WHERE [k] WITHIN 2 s SLIDE 1 s").queries[0]
    other = parse("RETURN COUNT(*) SLIDE 1 s WHERE [k] WITHIN 2 s PATTERN A+").queries[0]
    assert one.text == other.text


def test_queries_without_a_name_are_numbered_by_their_place():
    text = "RETURN COUNT(*) PATTERN A WITHIN 1 s\n"
    assert [q.name for q in parse(text + "QUERY mine " + text + text)] == ["q1", "mine", "q3"]
    assert [q.name for q in parse('QUERY "my trips" ' + text)] == ["my trips"]


def test_a_query_is_found_by_its_name():
    workload = parse("QUERY one RETURN COUNT(*) PATTERN A WITHIN 1 s")
    assert workload["one"] is workload.queries[0]
    assert len(workload) == 1


def test_clause_keywords_as_names():
    read = query(
        'SEQ(A a, "Pattern" "within"+)',
        'query, COUNT(*) AS slide, SUM("within".return)',
        'WHERE [where, having] AND a.pattern = 1 AND "within".slide > 2 GROUP-BY "query"',
    )
    assert read.equivalence == ("where", "having")
    assert read.group_by == ("query",)
    assert [column.name for column in read.columns] == ["query", "slide", "SUM(within.return)"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends(line_end):
    lines = ["\ufeffRETURN COUNT(*) -- n", "PATTERN A+ -- all", "WITHIN 1 s", ""]
    read = parse(line_end.join(lines)).queries[0]
    assert read.pattern == s.Plus(A)
    assert read.window == TimeWindow(SECOND, SECOND)


# ---- patterns ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A", A),
        ("(A)", A),
        ("SEQ(A)", A),
        ("A a", s.Event("A", "a")),
        ("A A", s.Event("A", "A")),
        ("A a+", s.Plus(s.Event("A", "a"))),
        ("A+ , B", s.Seq((s.Plus(A), B))),
        ("A, B", s.Seq((A, B))),
        ("SEQ(A, B)", s.Seq((A, B))),
        ("(A, B)", s.Seq((A, B))),
        ("(A, B), C", s.Seq((s.Seq((A, B)), C))),
        ("A, B | C", s.Seq((A, s.Either((B, C))))),
        ("A | B, C | D", s.Seq((s.Either((A, B)), s.Either((C, D))))),
        ("A | B | C", s.Either((A, B, C))),
        ("A | (B | C)", s.Either((A, s.Either((B, C))))),
        ("A | B+", s.Either((A, s.Plus(B)))),
        ("(A | B)+", s.Plus(s.Either((A, B)))),
        ("A, NOT X, B", s.Seq((A, s.Not(X), B))),
        ("A, NOT X+, B", s.Seq((A, s.Not(s.Plus(X)), B))),
        ("A, NOT (X | Y), B", s.Seq((A, s.Not(s.Either((X, Y))), B))),
        ("A, NOT SEQ(X, Y)", s.Seq((A, s.Not(s.Seq((X, Y)))))),
        ("NOT X, A | B", s.Seq((s.Not(X), s.Either((A, B))))),
        ("A & B", s.Both(A, B)),
        ("A, B & C | D", s.Both(s.Seq((A, B)), s.Either((C, D)))),
        ("A+*?", s.Maybe(s.Star(s.Plus(A)))),
        ("A a ? , B", s.Seq((s.Maybe(s.Event("A", "a")), B))),
        ("(SEQ(A+, B))+", s.Plus(s.Seq((s.Plus(A), B)))),
        ('"2" b+', s.Plus(s.Event("2", "b"))),
        ('"a ""b""" "NOT"', s.Event('a "b"', "NOT")),
        ("sequence, Notice", s.Seq((s.Event("sequence"), s.Event("Notice")))),
        ("größe 駅", s.Event("größe", "駅")),
    ],
)
def test_precedence_and_names(text, tree):
    assert pattern(text) == tree


def test_positions_know_where_they_stand():
    workload = parse('RETURN COUNT(*)\nPATTERN SEQ(A a+,\n  NOT X, "2" b)\nWITHIN 1 s')
    positions = workload.queries[0].template.positions
    spans = [workload.source.text[slice(*p.span)] for p in positions]
    assert spans == ["A a", "X", '"2" b']
    place = workload.source.place(positions[2].span)
    assert (place.line, place.column, place.length) == (3, 10, 5)


NAMES = st.one_of(
    st.sampled_from(["A", "B", "t1", "größe", "2", "a b", 'say "no"', "not", "SEQ", "Within"]),
    st.sampled_from(["GROUP", "by", "as", "NULL", "count", "next", "length", "--", "'", "é"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), min_size=1),
)
EVENTS = st.builds(s.Event, NAMES, st.none() | NAMES)


def _composed(inner):
    items = inner | st.builds(s.Not, inner)
    return st.one_of(
        st.builds(s.Plus, inner),
        st.builds(s.Star, inner),
        st.builds(s.Maybe, inner),
        st.builds(s.Either, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(s.Seq, st.lists(items, min_size=2, max_size=3).map(tuple)),
    )


PATTERNS = st.recursive(EVENTS, _composed, max_leaves=8)


@given(PATTERNS | st.builds(s.Both, PATTERNS, PATTERNS))
@example(s.Event("A", "A"))
@example(s.Seq((s.Event("group", "by"), s.Event("A", "pattern"))))
def test_a_description_reads_as_what_it_describes(tree):
    assert pattern(s.describe(tree)) == tree


def test_a_description_without_aliases():
    tree = pattern('SEQ(A a, (B | "2" b)+, NOT X x)')
    assert s.describe(tree) == 'SEQ(A a, (B | "2" b)+, NOT X x)'
    assert s.describe(tree, aliases=False) == 'SEQ(A, (B | "2")+, NOT X)'


# ---- values and conditions -----------------------------------------------------------------

AX = s.Attribute("A", "x")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("- -5", 5),
        ("+5", 5),
        ("-(5)", -5),
        ("2.50", 2.5),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("9" * 30, 10**30 - 1),
        ("1" + "0" * 500, float("inf")),
        ("'Pool'", "Pool"),
        ("''", ""),
        ("'Hell''s Kitchen'", "Hell's Kitchen"),
        ("''''", "'"),
        ("'\"'", '"'),
        ("TRUE", True),
        ("false", False),
    ],
)
def test_literals(text, value):
    read = condition(f"A.x = {text}")
    assert read == s.Compare("=", AX, s.Literal(value))
    assert type(read.right.value) is type(value)


@pytest.mark.parametrize(
    "attribute", ["in", "IN", "length", "next", "not", "count", "seq", "as", "query", "group"]
)
def test_attributes_called_like_keywords(attribute):
    assert condition(f"A.{attribute} = 1") == s.Compare(
        "=", s.Attribute("A", attribute), s.Literal(1)
    )
    assert condition(f"A . {attribute} >= 1").left == s.Attribute("A", attribute)
    assert condition(f"[{attribute}, x]") == s.Equivalence((s.Column(attribute), s.Column("x")))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A.x <> 1", s.Compare("!=", AX, s.Literal(1))),
        ("A.x IN (1, -2)", s.OneOf(AX, (s.Literal(1), s.Literal(-2)))),
        ("A.x NOT IN ('a')", s.Invert(s.OneOf(AX, (s.Literal("a"),)))),
        ("A.x BETWEEN 1 AND 2", s.Between(AX, s.Literal(1), s.Literal(2))),
        ("A.x NOT BETWEEN 1 AND 2", s.Invert(s.Between(AX, s.Literal(1), s.Literal(2)))),
        ("A.x IS NULL", s.IsNull(AX)),
        ("A.x IS NOT NULL", s.Invert(s.IsNull(AX))),
        ("NOT A.x IS NULL", s.Invert(s.IsNull(AX))),
        ("NOT NOT A.x IS NULL", s.Invert(s.Invert(s.IsNull(AX)))),
        (
            "A.x + 1 - 2 = 3",
            s.Compare(
                "=",
                s.Arithmetic("-", s.Arithmetic("+", AX, s.Literal(1)), s.Literal(2)),
                s.Literal(3),
            ),
        ),
        (
            "A.x + 2 * -A.x % 3 > 0",
            s.Compare(
                ">",
                s.Arithmetic(
                    "+",
                    AX,
                    s.Arithmetic(
                        "%", s.Arithmetic("*", s.Literal(2), s.Negative(AX)), s.Literal(3)
                    ),
                ),
                s.Literal(0),
            ),
        ),
        (
            "A.x IS NULL OR A.x = 1 AND NOT A.x = 2",
            s.AnyOf(
                (
                    s.IsNull(AX),
                    s.AllOf(
                        (
                            s.Compare("=", AX, s.Literal(1)),
                            s.Invert(s.Compare("=", AX, s.Literal(2))),
                        )
                    ),
                )
            ),
        ),
        (
            "(A.x IS NULL OR A.x = 1) AND A.x = 2",
            s.AllOf(
                (
                    s.AnyOf((s.IsNull(AX), s.Compare("=", AX, s.Literal(1)))),
                    s.Compare("=", AX, s.Literal(2)),
                )
            ),
        ),
        ("A.x < NEXT(A).x", s.Compare("<", AX, s.Attribute("A", "x", next=True))),
        ("LENGTH >= 3", s.Length(">=", 3)),
        ('"2"."a b" = 1', s.Compare("=", s.Attribute("2", "a b"), s.Literal(1))),
    ],
)
def test_conditions(text, tree):
    assert condition(text) == tree


def test_conditions_are_sorted_by_what_they_speak_of():
    read = where(
        "[driver, rider] AND a.v < 5 AND (a.v > 1 OR a.w IS NULL) AND B.v > 0 "
        "AND a.v < NEXT(b).v AND b.v + 1 < NEXT(b).v AND LENGTH >= 3 AND [town, driver]"
    )
    assert read.equivalence == ("driver", "rider", "town")
    assert [sorted(c.positions) for c in read.local] == [[0], [0], [1]]
    assert [(sorted(c.before), sorted(c.after)) for c in read.adjacent] == [([0], [1]), ([1], [1])]
    assert read.adjacent[0].kept == {"v"}
    assert read.least_length == 3
    assert read.partition_by == ("driver", "rider", "town")


def test_brackets_around_a_conjunction_do_not_hide_its_parts():
    read = where("([k] AND (LENGTH >= 2 AND a.v < 5)) AND b.v < NEXT(b).v")
    assert read.equivalence == ("k",)
    assert read.least_length == 2
    assert (len(read.local), len(read.adjacent)) == (1, 1)


def test_the_greatest_of_several_least_lengths_holds():
    assert where("LENGTH >= 2 AND LENGTH >= 5 AND LENGTH >= 3").least_length == 5
    assert query().least_length == 1


def test_a_name_is_an_alias_first_and_a_type_else():
    read = where("x.v = 1 AND A.v = 2 AND y.v = 3", "SEQ(A x, A y, B x2, A x)")
    assert [sorted(c.positions) for c in read.local] == [[0, 3], [0, 1, 3], [1]]


def test_conditions_on_what_is_forbidden():
    read = where("x.v < 5 AND x.v < NEXT(y).v", "SEQ(A a, NOT SEQ(X x, Y y), B)")
    assert [sorted(c.positions) for c in read.local] == [[1]]
    assert [(sorted(c.before), sorted(c.after)) for c in read.adjacent] == [([1], [2])]


def test_kinds_follow_from_use():
    uses = parse("""
        RETURN k, SUM(a.n) PATTERN SEQ(A a, B b)
        WHERE a.t = 'x' AND a.f = TRUE AND a.any < NEXT(b).any AND [e] AND b.m + 1 > 2
        GROUP-BY k HAVING k != 'z' WITHIN 1 s""").uses
    assert {name: kind.name for name, kind in uses.items()} == {
        "any": "ANY",
        "e": "ANY",
        "f": "BOOL",
        "k": "TEXT",
        "m": "NUMBER",
        "n": "NUMBER",
        "t": "TEXT",
    }


# ---- RETURN and HAVING ---------------------------------------------------------------------


def test_columns_and_their_names():
    read = query(
        returns="COUNT( * ), town AS place, avg( b . v ), Sum(b.v) AS total, COUNT(B)",
        rest="GROUP-BY district, town",
    )
    names = [column.name for column in read.columns]
    assert names == ["district", "place", "COUNT(*)", "AVG(b.v)", "total", "COUNT(B)"]
    assert [column.group for column in read.columns[:2]] == ["district", "town"]


def test_equal_aggregates_are_kept_once():
    read = query(
        returns="COUNT(*) AS n, AVG(b.v) AS mean, SUM(b.v)",
        rest="HAVING n > 1 AND COUNT(*) < 9 AND MAX(b.v) > 1 AND mean < 3",
    )
    assert [measure.text for measure in read.measures] == [
        "COUNT(*)",
        "AVG(b.v)",
        "SUM(b.v)",
        "MAX(b.v)",
    ]
    assert len(read.lanes) == 3  # the sum, how many values it has, the maximum


def test_an_alias_that_bindings_agree_on():
    assert len(query("SEQ(A x, A y+)", "COUNT(x), AVG(y.v)").lanes) == 3
    told_apart = "WHERE x.v < 10 AND y.v >= 10"
    assert query("SEQ(A x+, A y+)", "COUNT(x)", told_apart).lanes[0].positions == {0}


# ---- SEMANTICS, WITHIN and SLIDE -----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "semantics"),
    [
        ("", Semantics.ANY),
        ("SEMANTICS skip-till-any-match", Semantics.ANY),
        ("SEMANTICS Skip-Till-Next-Match", Semantics.NEXT),
        ("SEMANTICS skip - till - next - match", Semantics.NEXT),
        ("SEMANTICS contiguous", Semantics.CONTIGUOUS),
    ],
)
def test_semantics(text, semantics):
    assert query(rest=text).semantics is semantics


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1 us", 1),
        ("1 microsecond", 1),
        ("2 ms", 2_000),
        ("1.5 milliseconds", 1_500),
        ("1 s", SECOND),
        ("10s", 10 * SECOND),
        ("1 sec", SECOND),
        ("2 seconds", 2 * SECOND),
        ("1 m", 60 * SECOND),
        ("0.5 min", 30 * SECOND),
        ("90 Minutes", 5_400 * SECOND),
        ("1 h", 3_600 * SECOND),
        ("1e1 hours", 36_000 * SECOND),
        ("1 d", 86_400 * SECOND),
        ("7 days", 604_800 * SECOND),
    ],
)
def test_units(text, microseconds):
    assert query(within=f"WITHIN {text}").window == TimeWindow(microseconds, microseconds)
    assert parse_duration(text.lower()) == microseconds


def test_windows():
    assert query(within="WITHIN 10 minutes SLIDE 30 s").window == TimeWindow(
        600 * SECOND, 30 * SECOND
    )
    assert query(within="WITHIN 9 events").window == EventWindow(9, 9)
    assert query(within="WITHIN 1 event SLIDE 1 Event").window == EventWindow(1, 1)
    events = query(rest="WHERE [k] GROUP-BY k, l", within="WITHIN 9 events SLIDE 3 events")
    assert events.window == EventWindow(9, 3)


@pytest.mark.parametrize("text", ["", "5", "s", "5 parsecs", "-5 s", "0.5 us", "1 s 2", "x s"])
def test_what_is_no_duration(text):
    assert parse_duration(text) is None
