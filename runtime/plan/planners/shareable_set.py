"""A workload as planners see it: queries that could share with each other, as patterns of labels.

A **label** is an event type together with the condition on it, since queries share events only
where they pick the same ones. What cannot share at all, or is no sequence with Kleene parts, is in
no family and left to the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runtime.language import ast as s
from runtime.language.query import Query
from runtime.plan.operators.graphlet.eligibility import Condition, condition_of
from runtime.plan.planners.gloria.patterns import (
    Kleene,
    KleeneLoop,
    PatternPart,
    Sequence,
    all_types,
    flat,
)


@dataclass(frozen=True)
class ShareableSet:
    """Queries of one routing group whose windows are of one kind."""

    partition_by: tuple[str, ...]
    window_kind: str
    queries: tuple[Query, ...]
    patterns: Mapping[str, PatternPart]
    types: Mapping[str, str]  #: of labels

    @property
    def sequences(self) -> dict[str, tuple[str, ...]]:
        """The labels of the queries that repeat nothing, in order."""
        found = {}
        for name, pattern in self.patterns.items():
            parts = flat(pattern)
            if not any(isinstance(part, KleeneLoop) for part in parts):
                found[name] = tuple(all_types(parts))
        return found

    def spoken(self, text: str) -> str:
        """With types in the place of labels, whose numbers nobody else knows."""
        for label in sorted(self.types, key=len, reverse=True):
            text = text.replace(label, self.types[label])
        return text

    def rates(self, of_types: Mapping[str, float]) -> dict[str, float]:
        """Of labels, as if conditions picked every event. A type that is not known comes once."""
        return {label: of_types.get(type_, 1.0) for label, type_ in self.types.items()}


def shareable_sets(queries: Iterable[Query]) -> list[ShareableSet]:
    """Of queries whose bursts can be shared (the graphlet operator supports them)."""
    found: dict[tuple[tuple[str, ...], str], list[Query]] = {}
    for query in queries:
        found.setdefault((query.partition_by, query.window.kind), []).append(query)
    return [_family(*key, members) for key, members in found.items()]


def _family(partition_by: tuple[str, ...], window_kind: str, queries: list[Query]) -> ShareableSet:
    labels = _Labels()
    patterns = {}
    for query in queries:
        pattern = _pattern(query.pattern, iter(labels.of(query)))
        if pattern is not None:
            patterns[query.name] = pattern
    members = tuple(query for query in queries if query.name in patterns)
    return ShareableSet(partition_by, window_kind, members, patterns, labels.types)


class _Labels:
    """A type's own name where there is no condition on it."""

    def __init__(self) -> None:
        self.types: dict[str, str] = {}
        self._numbers: dict[tuple[str, Condition], int] = {}

    def of(self, query: Query) -> list[str]:
        """In the order in which the pattern names its types."""
        return [self._label(p.type, condition_of(query, p.index)) for p in query.template.positions]

    def _label(self, type_: str, condition: Condition) -> str:
        number = self._numbers.setdefault((type_, condition), len(self._numbers))
        label = f"{type_} #{number}" if condition else type_
        self.types[label] = type_
        return label


def _pattern(pattern: s.Pattern, labels: Iterable[str]) -> PatternPart | None:
    match pattern:
        case s.Event():
            return next(iter(labels))
        case s.Plus(body):
            inner = _pattern(body, labels)
            return None if inner is None else Kleene(inner)
        case s.Seq(parts):
            found = [_pattern(part, labels) for part in parts]
            return None if None in found else Sequence(tuple(p for p in found if p is not None))
        case _:
            return None
