"""Describes the NOTs of a query: the pattern each forbids, and in which gaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from runtime.language import ast as s
from runtime.language.automaton import Automaton, Guard
from runtime.language.query import Query
from runtime.plan.explain.explanation_sections import Gap, NegationPlan

T = TypeVar("T")


def negation_plans(query: Query) -> tuple[NegationPlan, ...]:
    bodies = _bodies(query.pattern)
    return tuple(_plan(query, number, body) for number, body in enumerate(bodies))


def _plan(query: Query, number: int, body: s.Pattern) -> NegationPlan:
    positions = query.template.positions
    own = query.template.negations[number]
    outer = _gaps(query, query.template.automaton, number)
    inner = [gap for other in query.template.negations for gap in _gaps(query, other, number)]
    return NegationPlan(
        pattern=s.describe(body),
        types=_unique(positions[p].type for p in own.follow),
        steps=_unique((positions[p].type, positions[q].type) for p, q in own.edges),
        ends=_unique(positions[p].type for p in own.last),
        gaps=_unique([*outer, *inner]),
        nested=not outer,
    )


def _gaps(query: Query, automaton: Automaton, number: int) -> list[Gap]:
    """Every step, start and end of an automaton that the NOT guards."""
    name = [p.type for p in query.template.positions]
    starts = [Gap(None, name[p]) for p, g in automaton.first.items() if _includes(g, number)]
    steps = [
        Gap(name[p], name[q])
        for p, after in automaton.follow.items()
        for q, guard in after.items()
        if _includes(guard, number)
    ]
    ends = [Gap(name[p], None) for p, g in automaton.last.items() if _includes(g, number)]
    return starts + steps + ends


def _includes(guard: Guard, number: int) -> bool:
    return any(number in together for together in guard)


def _bodies(pattern: s.Pattern) -> list[s.Pattern]:
    """The bodies of all NOTs, in the compiler's order: an outer NOT before those inside it."""
    bodies: list[s.Pattern] = [pattern.body] if isinstance(pattern, s.Not) else []
    for part in s.children(pattern):
        bodies += _bodies(part)
    return bodies


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
