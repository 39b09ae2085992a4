"""The random cases hold everything that they are meant to hold."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from oracle.enumerator import AmbiguousBinding, enumerate_query, partitions, windows
from oracle.model import (
    Arith,
    Attr,
    Compare,
    Expression,
    Leaf,
    Not,
    Pattern,
    Plus,
    Query,
    Seq,
    Star,
    children,
    leaves,
    query_names,
    terms,
)
from oracle.random_cases import Case, cases
from oracle.random_patterns import may_be_empty

DRAWS = settings(
    max_examples=300,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
WANTED = {
    # patterns
    *("Leaf", "Seq", "Plus", "Star", "Opt", "Or", "And", "Not"),
    *("Kleene in Kleene", "type in several places", "alias in several places", "quoted type"),
    *("NOT first", "NOT middle", "NOT last", "NOT nested", "NOT of several events"),
    *("NOT beside a part that may be empty", "NOT in NOT", "NOT of a type of the pattern"),
    # semantics, ties, times
    *("skip-till-any-match", "skip-till-next-match", "contiguous", "strict", "arrival"),
    *("equal times", "negative time", "not in order", "irrelevant type", "no event"),
    # conditions
    *("Compare", "In", "Between", "IsNull", "AllOf", "AnyOf", "Negate", "Minus"),
    *("=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"),
    *("two local conditions", "two adjacent conditions", "condition under NOT", "LENGTH"),
    *("adjacent, same name", "adjacent, different names", "adjacent ="),
    # partitions, windows, results
    *("equivalence", "GROUP-BY", "several groups", "null key", "null value", "NaN"),
    *("time window", "events window", "tumbling", "sliding", "one event per window"),
    *("several partitions", "partition without a trend", "window before the first event"),
    *("COUNT(*)", "COUNT", "SUM", "MIN", "MAX", "AVG", "VARIANCE", "STDDEV"),
    *("aggregate by alias", "HAVING"),
    *("several queries", "shared pattern", "no row", "row", "many trends", "null result"),
    "ambiguous binding",
}


def nodes(pattern: Pattern) -> Iterator[Pattern]:
    yield pattern
    for child in children(pattern):
        yield from nodes(child)


def of_patterns(query: Query) -> Iterator[str]:
    for node in nodes(query.pattern):
        yield type(node).__name__
        if isinstance(node, Plus | Star):
            if any(isinstance(inner, Plus | Star) for inner in nodes(node.inner)):
                yield "Kleene in Kleene"
        elif isinstance(node, Seq):
            yield from of_negations(query, node)
    places = Counter(leaf.type for leaf in leaves(query.pattern, under_not=False))
    aliases = Counter(leaf.alias for leaf in leaves(query.pattern) if leaf.alias)
    if max(places.values()) > 1:
        yield "type in several places"
    if aliases and max(aliases.values()) > 1:
        yield "alias in several places"
    if "2" in places:
        yield "quoted type"


def of_negations(query: Query, sequence: Seq) -> Iterator[str]:
    trend_types = {leaf.type for leaf in leaves(query.pattern, under_not=False)}
    last = len(sequence.parts) - 1
    for place, part in enumerate(sequence.parts):
        if not isinstance(part, Not):
            continue
        yield {0: "NOT first", last: "NOT last"}.get(place, "NOT middle")
        if sequence != query.pattern:
            yield "NOT nested"
        if not isinstance(part.inner, Leaf):
            yield "NOT of several events"
        if any(isinstance(node, Not) for node in nodes(part.inner)):
            yield "NOT in NOT"
        if trend_types & {leaf.type for leaf in leaves(part.inner)}:
            yield "NOT of a type of the pattern"
        beside = sequence.parts[max(place - 1, 0) : place + 2]
        if any(may_be_empty(other) and not isinstance(other, Not) for other in beside):
            yield "NOT beside a part that may be empty"


def of_conditions(query: Query) -> Iterator[str]:
    for condition in (*query.local, *query.adjacent):
        for term in terms(condition):
            yield type(term).__name__
            if isinstance(term, Arith | Compare):
                yield term.op
    if len(query.local) > 1:
        yield "two local conditions"
    if len(query.adjacent) > 1:
        yield "two adjacent conditions"
    if query.min_length:
        yield "LENGTH"
    outside = {n for leaf in leaves(query.pattern, False) for n in (leaf.alias, leaf.type)}
    if any(attribute.name not in outside for c in query.local for attribute in attributes(c)):
        yield "condition under NOT"
    for condition in query.adjacent:
        names = {attribute.name for attribute in attributes(condition)}
        yield "adjacent, same name" if len(names) == 1 else "adjacent, different names"
        if isinstance(condition, Compare):
            yield f"adjacent {condition.op}"


def attributes(condition: Expression) -> list[Attr]:
    return [term for term in terms(condition) if isinstance(term, Attr)]


def of_clauses(query: Query) -> Iterator[str]:
    yield query.semantics
    yield f"{query.window.unit} window"
    yield "tumbling" if query.window.step == query.window.within else "sliding"
    if query.window.within == 1:
        yield "one event per window"
    if query.equivalence:
        yield "equivalence"
    if query.group_by:
        yield "GROUP-BY"
    if query.having is not None:
        yield "HAVING"
    aliases = {leaf.alias for leaf in leaves(query.pattern)}
    for aggregate in query.aggregates:
        yield aggregate.function if aggregate.name else "COUNT(*)"
        if aggregate.name and aggregate.name in aliases:
            yield "aggregate by alias"


def of_stream(case: Case) -> Iterator[str]:
    yield case.ties
    times = [event.time for event in case.events]
    if not times:
        yield "no event"
        return
    if len(set(times)) < len(times):
        yield "equal times"
    if min(times) < 0:
        yield "negative time"
    if times != sorted(times):
        yield "not in order"
    if any(event.type == "Z" for event in case.events):
        yield "irrelevant type"
    values = [event.attributes[name] for event in case.events for name in "xysf"]
    if None in values:
        yield "null value"
    if any(value != value for value in values):
        yield "NaN"


def of_results(query: Query, case: Case) -> Iterator[str]:
    split = partitions(query, case.events)
    if len(split) > 1:
        yield "several partitions"
    if any(None in key for key in split):
        yield "null key"
    try:
        rows = enumerate_query(query, case.events, case.ties)
    except AmbiguousBinding:
        yield "ambiguous binding"
        return
    yield "row" if rows else "no row"
    counts = [row[a.column] for row in rows.values() for a in query.aggregates if not a.name]
    if counts and max(counts) > 8:
        yield "many trends"
    if any(None in row.values() for row in rows.values()):
        yield "null result"
    if len({group for _, _, group in rows}) > 1:
        yield "several groups"
    if rows and not query.equivalence and len({group for _, _, group in rows}) < len(split):
        yield "partition without a trend"
    if case.events and query.window.unit == "time":
        first = min(event.time for event in case.events)
        if any(start < first // query.window.step * query.window.step for start, _, _ in rows):
            yield "window before the first event"


@pytest.mark.slow
def test_the_cases_cover_the_language() -> None:
    seen: Counter[str] = Counter()

    @DRAWS
    @given(cases())
    def look(case: Case) -> None:
        found = set(of_stream(case))
        for query in case.queries:
            parts = (of_patterns, of_conditions, of_clauses)
            found.update(word for part in parts for word in part(query))
            found.update(of_results(query, case))
        if len(case.queries) > 1:
            found.add("several queries")
            if len({query.pattern for query in case.queries}) < len(case.queries):
                found.add("shared pattern")
        seen.update(found)

    look()
    assert set(seen) >= WANTED


@DRAWS
@given(cases())
def test_the_cases_are_small_and_allowed(case: Case) -> None:
    assert len(set(query_names(case.queries))) == len(case.queries)
    for query in case.queries:
        assert query.window.step <= query.window.within
        assert not may_be_empty(query.pattern)
        if query.window.unit == "events":
            assert set(query.equivalence) <= set(query.group_by)
        for partition in partitions(query, case.events).values():
            assert all(len(inside) <= 9 for inside in windows(query.window, partition).values())
