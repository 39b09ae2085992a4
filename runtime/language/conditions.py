"""Classifies conditions of WHERE: equivalence, local, adjacent, least length (the COGRA paper,
section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtime.language import ast as s
from runtime.language.automaton import PatternTemplate
from runtime.language.condition_ir import lower
from runtime.language.error_collector import ErrorCollector
from runtime.language.expressions import KindChecker
from runtime.language.query import AdjacentCondition, LocalCondition, Mention
from runtime.language.scope import Scope
from runtime.types.attribute_kinds import AttributeKind

MOST_LENGTH = 2**31 - 1


@dataclass
class Conditions:
    equivalence: list[s.Column] = field(default_factory=list)
    local: list[LocalCondition] = field(default_factory=list)
    adjacent: list[AdjacentCondition] = field(default_factory=list)
    least_length: int = 1
    mentions: list[Mention] = field(default_factory=list)


def classify(
    where: s.Expression | None, template: PatternTemplate, names: Scope, report: ErrorCollector
) -> Conditions:
    classifier = _Classifier(template, names, report)
    for term in _conjuncts(where):
        classifier.term(term)
    return classifier.found


def _conjuncts(where: s.Expression | None) -> list[s.Expression]:
    if where is None:
        return []
    if isinstance(where, s.AllOf):
        return [term for part in where.parts for term in _conjuncts(part)]
    return [where]


class _Classifier:
    def __init__(self, template: PatternTemplate, names: Scope, report: ErrorCollector) -> None:
        self.found = Conditions()
        self._template = template
        self._names = names
        self._report = report
        self._kinds = KindChecker(report, self._leaf)

    def term(self, term: s.Expression) -> None:
        match term:
            case s.Equivalence(columns):
                self.found.equivalence += columns
            case s.Length():
                self._length(term)
            case _:
                before = len(self._report.errors)
                self._kinds.condition(term)
                if len(self._report.errors) == before:
                    self._condition(term)

    def _length(self, term: s.Length) -> None:
        if term.operator != ">=":
            above = isinstance(term.number, int) and term.operator == ">"
            hint = f"write LENGTH >= {term.number + 1 if above else 'n'}"
            self._report("LENGTH gives the least length of a trend", term.span, hint)
        elif not isinstance(term.number, int) or not 1 <= term.number <= MOST_LENGTH:
            message = f"the least length is a whole number from 1 to {MOST_LENGTH:,}"
            self._report(message, term.span)
        else:
            self.found.least_length = max(self.found.least_length, term.number)

    def _leaf(self, leaf: s.Expression, kind: AttributeKind) -> None:
        match leaf:
            case s.Attribute(owner, name):
                positions = self._names.look_up(owner, leaf.owner_span)
                if positions is not None:
                    types = self._names.types(positions)
                    self.found.mentions.append(Mention(name, types, kind, leaf.name_span))
            case s.Column(name):
                message = f"`{name}` does not say of which event it is"
                self._report(message, leaf.span, self._column_hint(leaf))
            case s.Aggregate():
                hint = "put conditions on aggregates in HAVING"
                self._report(f"{leaf} is not known yet when events are matched", leaf.span, hint)

    def _column_hint(self, column: s.Column) -> str:
        name = column.name
        if self._report.source.text[column.span[0]] == '"':
            return f"write text in single quotes: '{name}'"
        if name.upper() == "LENGTH":
            return "a trend's least length is written LENGTH >= n, in this order"
        return f"write ALIAS.{name} for an attribute, '{name}' for text"

    def _condition(self, term: s.Expression) -> None:
        attributes = [node for node in s.walk(term) if isinstance(node, s.Attribute)]
        earlier = {self._positions(a) for a in attributes if not a.next}
        later = {self._positions(a) for a in attributes if a.next}
        if not attributes:
            self._report("this condition names no event", term.span)
        elif not later and len(earlier) == 1:
            self.found.local.append(LocalCondition(earlier.pop(), lower(term), term))
        elif not later:
            hint = "adjacent events are compared with NEXT, all events of a trend with [attribute]"
            self._report("a condition without NEXT can name only one event", term.span, hint)
        elif not earlier:
            owner = next(a.owner for a in attributes if a.next)
            hint = f"a condition on one event is written without NEXT: {owner}.x"
            self._report(
                "NEXT compares with the event before it, and none is named", term.span, hint
            )
        elif len(earlier) > 1 or len(later) > 1:
            message = (
                "a condition can name only two adjacent events, one without NEXT and one with it"
            )
            self._report(message, term.span)
        else:
            self._adjacent(term, attributes, earlier.pop(), later.pop())

    def _positions(self, attribute: s.Attribute) -> frozenset[int]:
        return self._names.look_up(attribute.owner, attribute.owner_span) or frozenset()

    def _adjacent(
        self,
        term: s.Expression,
        attributes: list[s.Attribute],
        before: frozenset[int],
        after: frozenset[int],
    ) -> None:
        edges = [edge for automaton in self._template.automata for edge in automaton.edges]
        if any(p in before and q in after for p, q in edges):
            self.found.adjacent.append(AdjacentCondition(before, after, lower(term), term))
            return
        one = next(a.owner for a in attributes if not a.next)
        other = next(a.owner for a in attributes if a.next)
        message = f"`{other}` never comes directly after `{one}` in this pattern"
        self._report(message, term.span, "this condition would never be evaluated")
