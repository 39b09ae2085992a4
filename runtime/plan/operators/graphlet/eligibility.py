"""Decides which queries can process a burst in closed form, and extracts their conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from runtime.language import ast as s
from runtime.language.ambiguity import needs_subsets
from runtime.language.canonical import canonical
from runtime.language.query import Query, Semantics
from runtime.plan.operators.declaration import common_obstacles

Condition: TypeAlias = frozenset[s.Expression]


def obstacles(query: Query) -> Iterator[str]:
    """The features of the query that prevent processing a burst as one step.

    A burst is one step under skip-till-any-match if an event enters each state independently, and
    no state that an event enters feeds another state that the same event enters."""
    if query.semantics is not Semantics.ANY:
        yield query.semantics.value
    yield from common_obstacles(query, adjacent=True)
    if query.semantics is Semantics.ANY and not query.conjunctive and needs_subsets(query):
        yield "trends that fit in two ways"
    for type_ in dict.fromkeys(_repeated(query)):
        yield f"{type_} after {type_} in another place of the pattern"


def supports(query: Query) -> bool:
    return next(obstacles(query), None) is None


def condition_of(query: Query, position: int) -> Condition:
    """The condition that picks the events of a position."""
    return frozenset(canonical(c.expression) for c in query.local if position in c.positions)


def _repeated(query: Query) -> Iterator[str]:
    """The types with two positions, one of which follows the other."""
    type_of = [p.type for p in query.template.positions]
    edges = sorted(query.template.automaton.edges)
    return (type_of[p] for p, q in edges if p != q and type_of[p] == type_of[q])
