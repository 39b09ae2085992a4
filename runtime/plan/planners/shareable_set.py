"""The planners' view of a workload: sets of queries that could share, as patterns of labels.

A **label** is an event type together with the condition on it, since queries share events only if
they pick the same ones. A query that cannot share, or whose pattern is not a sequence with Kleene
parts, is in no set and left to the engine.
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
        """The labels of the queries without Kleene parts, in order."""
        labels = {}
        for name, pattern in self.patterns.items():
            parts = flat(pattern)
            if not any(isinstance(part, KleeneLoop) for part in parts):
                labels[name] = tuple(all_types(parts))
        return labels

    def with_types(self, text: str) -> str:
        """The text with types instead of labels, whose numbers mean nothing to a reader."""
        for label in sorted(self.types, key=len, reverse=True):
            text = text.replace(label, self.types[label])
        return text

    def rates(self, of_types: Mapping[str, float]) -> dict[str, float]:
        """The rates of labels if conditions picked every event. An unknown type counts once."""
        return {label: of_types.get(type_, 1.0) for label, type_ in self.types.items()}


def shareable_sets(queries: Iterable[Query]) -> list[ShareableSet]:
    """The sets of queries that the graphlet operator supports."""
    compatible: dict[tuple[tuple[str, ...], str], list[Query]] = {}
    for query in queries:
        compatible.setdefault((query.partition_by, query.window.kind), []).append(query)
    return [_set_of(*key, members) for key, members in compatible.items()]


def _set_of(partition_by: tuple[str, ...], window_kind: str, queries: list[Query]) -> ShareableSet:
    labels = _Labels()
    patterns = {}
    for query in queries:
        pattern = _pattern(query.pattern, iter(labels.of(query)))
        if pattern is not None:
            patterns[query.name] = pattern
    members = tuple(query for query in queries if query.name in patterns)
    return ShareableSet(partition_by, window_kind, members, patterns, labels.types)


class _Labels:
    """Labels types; without a condition, the label is the name of the type."""

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
            inner_parts = [_pattern(part, labels) for part in parts]
            known = tuple(part for part in inner_parts if part is not None)
            return Sequence(known) if len(known) == len(inner_parts) else None
        case _:
            return None
