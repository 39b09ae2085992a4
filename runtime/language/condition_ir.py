"""Lowers a condition to its core form: syntax nodes without shorthand, for all evaluators.

The binder lowers each condition once. In the core form, a comparison with a constant has the
constant on the right, and a comparison of two adjacent events has the later one (`NEXT`) on the
right.
"""

from __future__ import annotations

from runtime.language import ast as s

#: The kinds of nodes that an evaluator must handle.
CORE = (
    s.Literal,
    s.Attribute,
    s.Column,
    s.Aggregate,
    s.Arithmetic,
    s.Negative,
    s.Compare,
    s.OneOf,
    s.IsNull,
    s.AllOf,
    s.AnyOf,
    s.Invert,
)


def lower(expression: s.Expression) -> s.Expression:
    """The core form. Keeps the spans, for errors."""
    match expression:
        case s.Between(body, low, high):
            span = expression.span
            parts = (
                s.Compare(">=", body, low, span=span),
                s.Compare("<=", body, high, span=span),
            )
            return lower(s.AllOf(parts, span=span))
        case s.Compare():
            return _turned(s.with_operands(expression, lower))
        case _:
            return s.with_operands(expression, lower)


def _turned(compare: s.Compare) -> s.Compare:
    left, right = compare.left, compare.right
    match left, right:
        case s.Literal(), s.Literal():
            return compare
        case (s.Literal(), _) | (s.Attribute(next=True), s.Attribute(next=False)):
            return s.Compare(s.MIRRORED[compare.operator], right, left, span=compare.span)
        case _:
            return compare
