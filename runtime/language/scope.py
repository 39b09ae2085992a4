"""Resolves a name in WHERE or RETURN to the positions of an alias or an event type."""

from __future__ import annotations

from runtime.errors import did_you_mean
from runtime.language.ast import Span
from runtime.language.automaton import PatternTemplate, Position
from runtime.language.error_collector import ErrorCollector


class Scope:
    def __init__(self, template: PatternTemplate, report: ErrorCollector) -> None:
        self._positions = template.positions
        self._report = report
        self._aliases = {p.alias for p in template.positions if p.alias is not None}
        self._types = {p.type for p in template.positions}

    def look_up(self, name: str, span: Span) -> frozenset[int] | None:
        """The positions of a name; reports an unknown name."""
        if name in self._aliases:
            return frozenset(p.index for p in self._positions if p.alias == name)
        if name in self._types:
            return frozenset(p.index for p in self._positions if p.type == name)
        known = self._aliases | self._types
        self._report(f"unknown alias `{name}`", span, did_you_mean(name, known))
        return None

    def knows(self, name: str) -> bool:
        return name in self._aliases or name in self._types

    def positive(self, positions: frozenset[int]) -> frozenset[int]:
        return frozenset(i for i in positions if self._positions[i].negation is None)

    def types(self, positions: frozenset[int]) -> frozenset[str]:
        return frozenset(self._positions[i].type for i in positions)

    def covers_its_type(self, positions: frozenset[int]) -> bool:
        """Whether the name covers every positive position of its type: then bindings cannot
        differ on it, whatever they are."""
        types = self.types(positions)
        return all(p.index in positions for p in self._positive() if p.type in types)

    def all_types(self) -> frozenset[str]:
        return frozenset(self._types)

    def _positive(self) -> list[Position]:
        return [p for p in self._positions if p.negation is None]
