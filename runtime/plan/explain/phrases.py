"""Formats conditions, windows and lists as text for an explanation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runtime.language import ast as s
from runtime.language.query import Query
from runtime.language.window import Window

_UNITS = (
    (86_400_000_000, "day"),
    (3_600_000_000, "hour"),
    (60_000_000, "minute"),
    (1_000_000, "second"),
    (1_000, "ms"),
    (1, "us"),
)
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


def duration(length: int, counted: bool) -> str:
    """Microseconds (or events) in the largest unit that gives a whole number."""
    if counted:
        return _number(length, "event")
    size, unit = next((size, unit) for size, unit in _UNITS if length % size == 0)
    return _number(length // size, unit)


def window(of: Window) -> str:
    within = duration(of.within, of.counted)
    if of.slide == of.within:
        return f"{within}, one after the other"
    return f"{within}, sliding by {duration(of.slide, of.counted)}"


def outputs(query: Query) -> tuple[str, ...]:
    """The items of RETURN, as written in the query."""
    return tuple(
        _value(output.value) + (f" AS {_name(output.name)}" if output.name else "")
        for output in query.text.returns
    )


def shortened(names: Sequence[str], shown: int = 2) -> str:
    """`q1, q2 +48`: a list that fits beside an arrow."""
    rest = len(names) - shown
    head = ", ".join(names[: shown if rest > 0 else len(names)])
    return f"{head} +{rest}" if rest > 0 else head


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def condition(expression: s.Expression) -> str:
    """A condition as text, with only the brackets that are needed."""
    match expression:
        case s.AllOf(parts):
            return " AND ".join(_bracketed(part, s.AnyOf) for part in parts)
        case s.AnyOf(parts):
            return " OR ".join(condition(part) for part in parts)
        case s.Invert(s.IsNull(body)):
            return f"{_value(body)} IS NOT NULL"
        case s.Invert(body):
            return f"NOT {_bracketed(body, s.AnyOf, s.AllOf)}"
        case s.Compare(operator, left, right):
            return f"{_value(left)} {operator} {_value(right)}"
        case s.Between(body, low, high):
            return f"{_value(body)} BETWEEN {_value(low)} AND {_value(high)}"
        case s.OneOf(body, values):
            return f"{_value(body)} IN ({', '.join(_value(v) for v in values)})"
        case s.IsNull(body):
            return f"{_value(body)} IS NULL"
        case _:
            return _value(expression)


def _bracketed(part: s.Expression, *looser: type) -> str:
    text = condition(part)
    return f"({text})" if isinstance(part, looser) else text


def _value(expression: s.Expression) -> str:
    match expression:
        case s.Literal(value):
            return _literal(value)
        case s.Attribute(owner, name, following):
            shown = f"NEXT({_name(owner)})" if following else _name(owner)
            return f"{shown}.{_name(name)}"
        case s.Column(name):
            return _name(name)
        case s.Arithmetic(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case s.Negative(body):
            return f"-{_operand(body)}"
        case _:
            return str(expression)


def _operand(expression: s.Expression) -> str:
    text = _value(expression)
    return f"({text})" if isinstance(expression, s.Arithmetic) else text


def _literal(value: s.Value) -> str:
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def _name(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _number(count: int, unit: str) -> str:
    plural = unit in ("ms", "us") or count == 1
    return f"{count:,} {unit}" if plural else f"{count:,} {unit}s"
