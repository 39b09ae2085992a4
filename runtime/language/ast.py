"""The syntax tree of a query, as written, before names are bound.

Every node has its `span` in the text, for errors. Comparisons ignore spans, so trees of equal
queries are equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias, TypeVar

Span: TypeAlias = tuple[int, int]

CLAUSES = (
    "QUERY",
    "RETURN",
    "PATTERN",
    "SEMANTICS",
    "WHERE",
    "GROUP-BY",
    "HAVING",
    "WITHIN",
    "SLIDE",
)
# Words that are event names only in quotes; must agree with BARE in the grammar.
OPERATORS = ("NOT", "SEQ", "AS", "AND", "OR", "IN", "BETWEEN", "IS", "NULL", "TRUE", "FALSE")


@dataclass(frozen=True)
class SyntaxNode:
    span: Span = field(compare=False, repr=False, kw_only=True, default=(0, 0))


# ---- patterns ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event(SyntaxNode):
    type: str
    alias: str | None = None


@dataclass(frozen=True)
class Seq(SyntaxNode):
    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Either(SyntaxNode):
    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Plus(SyntaxNode):
    body: Pattern


@dataclass(frozen=True)
class Star(SyntaxNode):
    body: Pattern


@dataclass(frozen=True)
class Maybe(SyntaxNode):
    body: Pattern


@dataclass(frozen=True)
class Not(SyntaxNode):
    body: Pattern


@dataclass(frozen=True)
class Both(SyntaxNode):
    """`P & Q`: pairs of one trend of each side."""

    left: Pattern
    right: Pattern


Pattern: TypeAlias = Event | Seq | Either | Plus | Star | Maybe | Not | Both


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    match pattern:
        case Event():
            return ()
        case Seq(parts) | Either(parts):
            return parts
        case Both(left, right):
            return (left, right)
        case _:
            return (pattern.body,)


def leaves(pattern: Pattern) -> tuple[Event, ...]:
    if isinstance(pattern, Event):
        return (pattern,)
    return tuple(leaf for part in children(pattern) for leaf in leaves(part))


def quoted(name: str) -> str:
    """An event's name as in a query: in double quotes unless it is a plain identifier."""
    if name.upper() in (*CLAUSES, *OPERATORS, "GROUP", "GROUPBY"):
        return f'"{name}"'
    return quoted_attribute(name)


def quoted_attribute(name: str) -> str:
    """An attribute's name as in a query. It may be a keyword."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else '"' + name.replace('"', '""') + '"'


def describe(pattern: Pattern, *, aliases: bool = True) -> str:
    """The pattern as text that parses to the same pattern. Without aliases it is the canonical text
    by which sub-patterns are shared."""
    match pattern:
        case Event(type_, alias):
            return f"{quoted(type_)} {quoted(alias)}" if aliases and alias else quoted(type_)
        case Seq(parts):
            return f"SEQ({', '.join(describe(p, aliases=aliases) for p in parts)})"
        case Either(parts):
            return f"({' | '.join(describe(p, aliases=aliases) for p in parts)})"
        case Both(left, right):
            return f"{describe(left, aliases=aliases)} & {describe(right, aliases=aliases)}"
        case Not(body):
            return f"NOT {describe(body, aliases=aliases)}"
        case Plus(body) | Star(body) | Maybe(body):
            mark = {Plus: "+", Star: "*", Maybe: "?"}[type(pattern)]
            return describe(body, aliases=aliases) + mark


# ---- expressions ---------------------------------------------------------------------------

Value: TypeAlias = int | float | str | bool | None


@dataclass(frozen=True)
class Literal(SyntaxNode):
    value: Value


@dataclass(frozen=True)
class Attribute(SyntaxNode):
    """`T.speed`, or `NEXT(T).speed` when `next` is set."""

    owner: str
    name: str
    next: bool = False
    owner_span: Span = field(compare=False, repr=False, default=(0, 0))
    name_span: Span = field(compare=False, repr=False, default=(0, 0))


@dataclass(frozen=True)
class Column(SyntaxNode):
    """A bare name: in HAVING a column of the result row."""

    name: str


@dataclass(frozen=True)
class Aggregate(SyntaxNode):
    """`COUNT(*)` has neither owner nor attribute, `COUNT(E)` has no attribute."""

    function: str
    owner: str | None = None
    attribute: str | None = None
    owner_span: Span = field(compare=False, repr=False, default=(0, 0))
    attribute_span: Span = field(compare=False, repr=False, default=(0, 0))

    def __str__(self) -> str:
        if self.owner is None:
            return f"{self.function}(*)"
        names = [name for name in (self.owner, self.attribute) if name is not None]
        return f"{self.function}({'.'.join(map(quoted_attribute, names))})"


@dataclass(frozen=True)
class Arithmetic(SyntaxNode):
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Negative(SyntaxNode):
    body: Expression


@dataclass(frozen=True)
class Compare(SyntaxNode):
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class OneOf(SyntaxNode):
    body: Expression
    values: tuple[Literal, ...]


@dataclass(frozen=True)
class Between(SyntaxNode):
    body: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True)
class IsNull(SyntaxNode):
    body: Expression


@dataclass(frozen=True)
class AllOf(SyntaxNode):
    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf(SyntaxNode):
    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Invert(SyntaxNode):
    body: Expression


@dataclass(frozen=True)
class Equivalence(SyntaxNode):
    names: tuple[Column, ...]


@dataclass(frozen=True)
class Length(SyntaxNode):
    operator: str
    number: int | float


Expression: TypeAlias = (
    Literal
    | Attribute
    | Column
    | Aggregate
    | Arithmetic
    | Negative
    | Compare
    | OneOf
    | Between
    | IsNull
    | AllOf
    | AnyOf
    | Invert
    | Equivalence
    | Length
)
BOOLEAN = (Compare, OneOf, Between, IsNull, AllOf, AnyOf, Invert, Equivalence, Length)


def operands(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Arithmetic(_, left, right) | Compare(_, left, right):
            return (left, right)
        case Between(body, low, high):
            return (body, low, high)
        case AllOf(parts) | AnyOf(parts):
            return parts
        case OneOf(body, values):
            return (body, *values)
        case Negative(body) | IsNull(body) | Invert(body):
            return (body,)
        case _:
            return ()


E = TypeVar("E", bound=SyntaxNode)


def with_operands(expression: E, change: Callable[[Any], Any]) -> E:
    """The expression with each of its operands changed."""
    changed: dict[str, Any] = {}
    for each in fields(expression):
        value = getattr(expression, each.name)
        if isinstance(value, SyntaxNode):
            changed[each.name] = change(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], SyntaxNode):
            changed[each.name] = tuple(change(part) for part in value)
    return replace(expression, **changed) if changed else expression


def walk(expression: Expression) -> list[Expression]:
    found = [expression]
    for part in operands(expression):
        found += walk(part)
    return found


# ---- a query -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReturnItem(SyntaxNode):
    """One item of RETURN: a group attribute or an aggregate, possibly with a new name."""

    value: Column | Aggregate
    name: str | None = None


@dataclass(frozen=True)
class Duration(SyntaxNode):
    number: int | float
    unit: str
    unit_span: Span = field(compare=False, repr=False, default=(0, 0))


@dataclass(frozen=True)
class Word(SyntaxNode):
    text: str


@dataclass(frozen=True)
class QueryText(SyntaxNode):
    """A query whose clauses are parsed, but not checked against each other."""

    name: Word | None
    returns: tuple[ReturnItem, ...]
    pattern: Pattern
    semantics: Word | None
    where: Expression | None
    group_by: tuple[Column, ...]
    having: Expression | None
    within: Duration
    slide: Duration | None


MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
