"""Makes a case that fails small enough to read.

Works on queries and events rather than on the bytes they were drawn from, so a part can go while
the rest stays. Run hypothesis without its own shrinking where this is used.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TypeVar

from oracle.model import ANY, And, Leaf, Not, Or, Pattern, Query, Seq, children
from oracle.random_cases import Case
from oracle.random_patterns import may_be_empty

T = TypeVar("T")


def reduced(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case that fails and of which no part can be left out.

    A smaller case may be one that the language refuses: then `fails` has to return False.
    """
    while (smaller := next(filter(fails, simpler_cases(case)), None)) is not None:
        case = smaller
    return case


def shorter(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Without one of the items; the last goes first."""
    for place in reversed(range(len(items))):
        yield items[:place] + items[place + 1 :]


def changed(items: tuple[T, ...], change: Callable[[T], Iterator[T]]) -> Iterator[tuple[T, ...]]:
    """With one of the items changed."""
    for place, item in enumerate(items):
        for other in change(item):
            yield (*items[:place], other, *items[place + 1 :])


def simpler_cases(case: Case) -> Iterator[Case]:
    for queries in shorter(case.queries):
        if queries:
            yield replace(case, queries=queries)
    for events in shorter(case.events):
        yield replace(case, events=events)
    for queries in changed(case.queries, simpler_queries):
        yield replace(case, queries=queries)


def simpler_queries(query: Query) -> Iterator[Query]:
    for clause in ("local", "adjacent", "equivalence", "group_by", "returns"):
        for items in shorter(getattr(query, clause)):
            simpler = replace(query, **{clause: items})
            if simpler.aggregates:
                yield simpler
    defaults = {field.name: field.default for field in fields(Query)}
    for clause in ("having", "min_length", "name"):
        if getattr(query, clause) != defaults[clause]:
            yield replace(query, **{clause: defaults[clause]})
    if query.semantics != ANY:
        yield replace(query, semantics=ANY)
    for pattern in simpler_patterns(query.pattern):
        if not may_be_empty(pattern):
            yield replace(query, pattern=pattern)


def simpler_patterns(pattern: Pattern) -> Iterator[Pattern]:
    yield from (child for child in children(pattern) if not isinstance(child, Not))
    match pattern:
        case Leaf(name, alias):
            if alias:
                yield Leaf(name)
        case Seq(parts) | Or(parts):
            several = len(parts) > 2
            choices = [*(shorter(parts) if several else ()), *changed(parts, simpler_parts)]
            yield from (type(pattern)(choice) for choice in choices)
        case And(left, right):
            yield from (And(*sides) for sides in changed((left, right), simpler_patterns))
        case _:
            yield from (type(pattern)(inner) for inner in simpler_patterns(pattern.inner))


def simpler_parts(part: Pattern) -> Iterator[Pattern]:
    """Of a sequence: a NOT stays one, since without it its pattern would take events."""
    if isinstance(part, Not):
        yield from (Not(inner) for inner in simpler_patterns(part.inner) if not may_be_empty(inner))
    else:
        yield from simpler_patterns(part)
