"""Which queries' bursts are closed-form operators, and which conditions pick their events."""

from __future__ import annotations

from typing import TypeAlias

from runtime.language import ast as s
from runtime.language.ambiguity import needs_subsets
from runtime.language.canonical import canonical
from runtime.language.query import Query, Semantics

Condition: TypeAlias = frozenset[s.Expression]


def takes(query: Query) -> bool:
    """Under skip-till-any-match, where an event enters each state by itself, and no state that an
    event enters feeds another one that the same event enters."""
    template = query.template
    if (
        query.semantics is not Semantics.ANY
        or query.conjunctive
        or query.adjacent
        or template.negations
        or query.least_length > 1
        or needs_subsets(query)
    ):
        return False
    type_of = [p.type for p in template.positions]
    return all(p == q or type_of[p] != type_of[q] for p, q in template.automaton.edges)


def condition_of(query: Query, position: int) -> Condition:
    """What picks the events of a position."""
    return frozenset(canonical(c.expression) for c in query.local if position in c.positions)
