"""The check of a history finds what a fault could do to it."""

from collections import Counter
from dataclasses import replace

import pytest

from chaos.history import (
    Between,
    Counts,
    Expected,
    Rows,
    Span,
    Written,
    check,
    check_query,
    summarized,
)

COUNTS = Counts(rows=100, events=90, late=4, dead=6)


def row(start, group="g", trends=1.0):
    return (
        ("window_start", start),
        ("window_end", start + 10),
        ("district", group),
        ("trends", trends),
    )


TRUTH = Rows(row(start, group) for start in range(0, 60, 5) for group in "gh")
EXPECTED = Expected(
    {"q": TRUTH}, {"q": Span()}, COUNTS, Counter([("a", 1)]), Counter([("a", 2), ("b", 1)])
)
WRITTEN = Written({"q": TRUTH}, Counter([("a", 1)]), Counter([("a", 2), ("b", 1)]))


def without(rows, *gone):
    return Rows({each: n for each, n in rows.items() if each not in gone})


def kinds(problems):
    return [each.kind for each in problems]


def found_in(results, span=None):
    return kinds(check_query("q", TRUTH, results, span or Span()))


def test_nothing_is_wrong():
    assert check(EXPECTED, COUNTS, WRITTEN) == []


def test_a_lost_row():
    assert found_in(without(TRUTH, row(20))) == ["lost"]


def test_a_lost_query():
    assert set(kinds(check(EXPECTED, COUNTS, replace(WRITTEN, results={})))) == {"lost"}


def test_a_double_row():
    assert found_in(TRUTH + Rows([row(20)])) == ["twice"]


def test_a_wrong_value_is_told_once():
    [problem] = check_query("q", TRUTH, without(TRUTH, row(20)) + Rows([row(20, "g", 2.0)]), Span())
    assert problem.kind == "wrong"
    assert "trends 2.0, and should be window_start 20" in problem.what


def test_a_wrong_row_beside_the_right_one():
    assert found_in(TRUTH + Rows([row(20, "g", 2.0)])) == ["wrong"]


def test_a_row_that_never_was():
    assert found_in(TRUTH + Rows([row(20, "nobody")])) == ["stray"]


def test_a_query_that_nobody_added():
    results = {"q": TRUTH, "other": Rows([row(0)])}
    assert kinds(check(EXPECTED, COUNTS, replace(WRITTEN, results=results))) == ["stray"]


@pytest.mark.parametrize("name", ["rows", "events", "late", "dead"])
def test_a_wrong_count(name):
    counts = replace(COUNTS, **{name: getattr(COUNTS, name) + 1})
    assert kinds(check(EXPECTED, counts, WRITTEN)) == ["sum", "wrong"]


def test_counts_that_are_wrong_together():
    assert kinds(check(EXPECTED, replace(COUNTS, late=5, dead=5), WRITTEN)) == ["wrong"]


@pytest.mark.parametrize("name", ["late", "dead"])
def test_rows_beside_the_results(name):
    there = getattr(WRITTEN, name)
    for changed, kind in (
        (there + Counter([("a", 1), ("a", 2)]), "twice"),
        (there + Counter([("a", 9)]), "stray"),
        (Counter([("b", 1)]) if name == "dead" else Counter(), "lost"),
    ):
        assert kind in kinds(check(EXPECTED, COUNTS, replace(WRITTEN, **{name: changed})))


# ---- queries that come and go ---------------------------------------------------------------

#   0    5    10   15   20   25   30   35   40   45   50   55      starts of windows, 10 long
#                       |begins at 20: windows from 20 on
ADDED = Span(begins=Between(19, 19))


def after(start):
    return Rows(each for each in TRUTH if each[0][1] >= start)


def until(end):
    return Rows(each for each in TRUTH if each[1][1] <= end)


def test_an_added_query_reports_from_its_first_window():
    assert found_in(after(20), ADDED) == []
    assert found_in(after(25), ADDED) == ["lost", "lost"]
    assert found_in(after(15), ADDED) == ["stray", "stray"]


def test_an_added_query_that_is_gone_after_a_crash():
    assert set(found_in(Rows(), ADDED)) == {"lost"}
    assert found_in(Rows(), replace(ADDED, acknowledged=False)) == []


def test_a_query_that_was_added_at_an_unknown_moment():
    span = Span(begins=Between(10, 30))
    for start in (15, 20, 30, 35):
        assert found_in(after(start), span) == [], start
    assert found_in(after(10), span) == ["stray", "stray"]
    assert set(found_in(after(40), span)) == {"lost"}
    assert found_in(without(after(15), row(20)), span) == ["lost"]


def test_a_query_that_was_removed_at_an_unknown_moment():
    span = Span(ends=Between(30, 45))
    for end in (30, 35, 45):
        assert found_in(until(end), span) == [], end
    assert found_in(until(25), span) == ["lost", "lost"]
    assert found_in(until(50), span) == ["stray", "stray"]
    assert found_in(without(until(45), row(30)), span) == ["lost"]


def test_many_problems_are_summarized():
    told = summarized(check(EXPECTED, COUNTS, replace(WRITTEN, results={})))
    assert len(told) == 4
    assert told[-1] == f"lost in q: {len(TRUTH) - 3} more"
