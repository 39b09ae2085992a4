"""Compiles expressions to Python functions with SQL's three-valued logic: None is unknown.

The function has two rows as arguments, the earlier and the later event of a pair; a condition on
one event gets it twice. Comparisons use values as they are; arithmetic converts them by
`number`: doubles for events, rationals for results.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from runtime.language import ast as s

Row: TypeAlias = Any
Function: TypeAlias = Callable[[Row, Row], Any]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}


def compile_expression(
    expression: s.Expression,
    leaf: Callable[[s.Expression], Function],
    number: Callable[[Any], float | Fraction] = float,
) -> Function:
    """`leaf` returns the function of an attribute, a column or an aggregate."""

    def function(part: s.Expression) -> Function:
        return compile_expression(part, leaf, number)

    match expression:
        case s.Literal(value):
            return lambda a, b: value
        case s.Compare(symbol, left, right):
            return _compare(COMPARE[symbol], function(left), function(right))
        case s.OneOf(body, values):
            return _one_of(function(body), frozenset(v.value for v in values))
        case s.IsNull(body):
            inner = function(body)
            return lambda a, b: inner(a, b) is None
        case s.Invert(body):
            inner = function(body)
            return lambda a, b: None if (x := inner(a, b)) is None else not x
        case s.AllOf(parts):
            return _logic([function(part) for part in parts], decisive=False)
        case s.AnyOf(parts):
            return _logic([function(part) for part in parts], decisive=True)
        case s.Arithmetic(symbol, left, right):
            return _arithmetic(ARITHMETIC[symbol], function(left), function(right), number)
        case s.Negative(body):
            inner = function(body)
            return lambda a, b: None if (x := inner(a, b)) is None else -number(x)
        case s.Attribute() | s.Column() | s.Aggregate():
            return leaf(expression)
        case _:
            raise AssertionError(f"{expression} is not lowered")


def _compare(test: Callable[[Any, Any], bool], left: Function, right: Function) -> Function:
    def function(a: Row, b: Row) -> bool | None:
        x, y = left(a, b), right(a, b)
        if x is None or y is None:
            return None
        try:
            return test(x, y)
        except TypeError:  # a column of nulls that turned out to be of another kind
            return False

    return function


def _one_of(body: Function, values: frozenset[s.Value]) -> Function:
    return lambda a, b: None if (x := body(a, b)) is None else x in values


def _logic(parts: list[Function], *, decisive: bool) -> Function:
    """OR is decided by one true part, AND by one false part; else unknown if any part is."""

    def function(a: Row, b: Row) -> bool | None:
        unknown = False
        for part in parts:
            value: bool | None = part(a, b)
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive

    return function


def _arithmetic(
    apply: Callable[[Any, Any], Any],
    left: Function,
    right: Function,
    number: Callable[[Any], float | Fraction],
) -> Function:
    def function(a: Row, b: Row) -> Any:
        x, y = left(a, b), right(a, b)
        if x is None or y is None:
            return None
        try:
            result = apply(number(x), number(y))
        except (ZeroDivisionError, OverflowError):
            return None
        return None if result != result else result

    return function
