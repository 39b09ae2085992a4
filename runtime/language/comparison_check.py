"""Checks, against the types of the input, that compared attributes can be compared."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from runtime.errors import QueryError
from runtime.language import ast as s
from runtime.language.expressions import describe_type
from runtime.language.query import Query
from runtime.types.columns import comparable
from runtime.types.schema import Schema

_HINT = "numbers are compared with numbers, text with text, times with times of the same type"


def comparison_errors(query: Query, schema: Schema) -> Iterator[QueryError]:
    """Errors for comparisons in WHERE and HAVING whose sides have different kinds."""
    for node, left, right in _comparisons(query):
        one, other = _type_of(left, query, schema), _type_of(right, query, schema)
        if one is not None and other is not None and not comparable(one, other):
            sides = (
                f"`{_name(left)}`, which is {describe_type(one)}, "
                f"with `{_name(right)}`, which is {describe_type(other)}"
            )
            yield query.source.error(f"compares {sides}", node.span, _HINT)


def _comparisons(query: Query) -> Iterator[tuple[s.Expression, s.Expression, s.Expression]]:
    """Each comparison with its two sides."""
    conditions = [condition.expression for condition in query.local]
    conditions += [condition.expression for condition in query.adjacent]
    conditions += [] if query.having is None else [query.having]
    for node in (node for condition in conditions for node in s.walk(condition)):
        match node:
            case s.Compare(_, left, right):
                yield node, left, right


def _type_of(side: s.Expression, query: Query, schema: Schema) -> pa.DataType | None:
    """None for an expression with a kind of its own: it was checked without a schema."""
    match side:
        case s.Attribute(_, name):
            return schema.data_type(name)
        case s.Column(name):
            group = next(column.group for column in query.columns if column.name == name)
            return pa.float64() if group is None else schema.data_type(group)
        case _:
            return None


def _name(side: s.Expression) -> str:
    assert isinstance(side, s.Attribute | s.Column)
    return side.name
