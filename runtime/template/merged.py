"""Merges the patterns of a workload into one template: each event type once, each transition
labelled with its queries (the HAMLET paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runtime.language.automaton import OPEN, Automaton
from runtime.language.query import Query


@dataclass(frozen=True)
class MergedType:
    """An event type and the queries whose trends can start or end there, or that forbid it."""

    type: str
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    negated: tuple[str, ...]


@dataclass(frozen=True)
class Transition:
    """`source` may come directly before `target` in trends of these queries. `guarded` are the
    queries that have a NOT in between."""

    source: str
    target: str
    queries: tuple[str, ...]
    guarded: tuple[str, ...]


@dataclass(frozen=True)
class MergedTemplate:
    types: tuple[MergedType, ...]
    transitions: tuple[Transition, ...]

    def predecessors(self, type_: str, query: str) -> tuple[str, ...]:
        """pt(E, q): the types that may come directly before E in a trend of q."""
        found = (t.source for t in self.transitions if t.target == type_ and query in t.queries)
        return tuple(found)


def merge(queries: Iterable[Query]) -> MergedTemplate:
    starts: dict[str, dict[str, None]] = {}
    ends: dict[str, dict[str, None]] = {}
    negated: dict[str, dict[str, None]] = {}
    steps: dict[tuple[str, str], dict[str, bool]] = {}
    types: dict[str, None] = {}
    for query in queries:
        type_of = [p.type for p in query.template.positions]
        types |= dict.fromkeys(type_of)
        for p in query.template.automaton.first:
            starts.setdefault(type_of[p], {})[query.name] = None
        for p in query.template.automaton.last:
            ends.setdefault(type_of[p], {})[query.name] = None
        for position in query.template.positions:
            if position.negation is not None:
                negated.setdefault(position.type, {})[query.name] = None
        for source, target, guarded in _transitions(query.template.automaton, type_of):
            label = steps.setdefault((source, target), {})
            label[query.name] = label.get(query.name, False) or guarded
    return MergedTemplate(
        tuple(
            MergedType(
                t, tuple(starts.get(t, ())), tuple(ends.get(t, ())), tuple(negated.get(t, ()))
            )
            for t in types
        ),
        tuple(
            Transition(a, b, tuple(label), tuple(q for q, guarded in label.items() if guarded))
            for (a, b), label in steps.items()
        ),
    )


def _transitions(automaton: Automaton, type_of: list[str]) -> Iterable[tuple[str, str, bool]]:
    for p, after in automaton.follow.items():
        for q, guard in after.items():
            yield type_of[p], type_of[q], guard != OPEN
