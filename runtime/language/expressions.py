"""Checks the kinds in an expression: numbers with numbers, text with text, conditions on top."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from runtime.language import ast as s
from runtime.language.error_collector import ErrorCollector
from runtime.types import attribute_kinds as kinds
from runtime.types.attribute_kinds import AttributeKind

_BY_ITSELF = "join it to the conditions of WHERE with AND"
SPOKEN = {
    AttributeKind.NUMBER: "a number",
    AttributeKind.TEXT: "text",
    AttributeKind.BOOL: "true or false",
}


def kind_of(expression: s.Expression) -> AttributeKind:
    """The kind of an expression; ANY if it depends on the data."""
    match expression:
        case s.Literal(bool()):
            return AttributeKind.BOOL
        case s.Literal(str()):
            return AttributeKind.TEXT
        case s.Literal() | s.Arithmetic() | s.Negative() | s.Aggregate():
            return AttributeKind.NUMBER
        case _:
            return AttributeKind.ANY


def describe_type(data_type: pa.DataType) -> str:
    """A phrase for the values of a column of this type."""
    kind = kinds.kind_of(data_type)
    return f"of type {data_type}" if kind is AttributeKind.ANY else SPOKEN[kind]


class KindChecker:
    """Walks a condition and calls `leaf` for every name in it, with the kind of its use."""

    def __init__(
        self, report: ErrorCollector, leaf: Callable[[s.Expression, AttributeKind], None]
    ) -> None:
        self._report = report
        self._leaf = leaf

    def condition(self, expression: s.Expression) -> None:
        match expression:
            case s.AllOf(parts) | s.AnyOf(parts):
                for part in parts:
                    self.condition(part)
            case s.Invert(body):
                self.condition(body)
            case s.Compare(operator, left, right):
                self._ordered(expression, operator, self._alike(expression, left, right))
            case s.Between(body, low, high):
                self._ordered(expression, "BETWEEN", self._alike(expression, body, low, high))
            case s.OneOf(body, values):
                self._alike(expression, body, *values)
            case s.IsNull(body):
                self._value(body, AttributeKind.ANY)
            case s.Equivalence():
                message = "an equivalence must be a separate term of WHERE, not inside a condition"
                self._report(message, expression.span, _BY_ITSELF)
            case s.Length():
                message = "LENGTH must be a separate term of WHERE, not inside a condition"
                self._report(message, expression.span, _BY_ITSELF)
            case _:
                example = "`> 0`" if kind_of(expression) is AttributeKind.NUMBER else "`= TRUE`"
                hint = f"compare it with something, such as {example}"
                self._report("this is a value, not a condition", expression.span, hint)
                self._value(expression, AttributeKind.ANY)

    def _alike(self, whole: s.Expression, *parts: s.Expression) -> AttributeKind:
        """The common kind of all parts; parts without a kind get it."""
        kinds = {kind_of(part) for part in parts} - {AttributeKind.ANY}
        if len(kinds) > 1:
            one, other = sorted(SPOKEN[kind] for kind in kinds)[:2]
            self._report(f"compares {one} with {other}", whole.span)
            kinds = set()
        kind = kinds.pop() if kinds else AttributeKind.ANY
        for part in parts:
            self._value(part, kind)
        return kind

    def _ordered(self, whole: s.Expression, operator: str, kind: AttributeKind) -> None:
        if kind is AttributeKind.BOOL and operator not in ("=", "!="):
            self._report(
                f"true and false have no order for `{operator}`", whole.span, "use = or !="
            )

    def _value(self, expression: s.Expression, kind: AttributeKind) -> None:
        match expression:
            case s.Arithmetic(_, left, right):
                self._number(left)
                self._number(right)
            case s.Negative(body):
                self._number(body)
            case s.Attribute() | s.Column() | s.Aggregate():
                self._leaf(expression, kind)
            case s.Literal():
                pass
            case _:
                self._report("expected a value, found a condition", expression.span)

    def _number(self, expression: s.Expression) -> None:
        if kind_of(expression) not in (AttributeKind.NUMBER, AttributeKind.ANY):
            self._report(
                f"arithmetic needs numbers, this is {SPOKEN[kind_of(expression)]}", expression.span
            )
        self._value(expression, AttributeKind.NUMBER)
