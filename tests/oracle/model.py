"""A query and an event as plain data, and the text of a query.

Shares nothing with the product: what its parser makes of `to_text(query)` is judged against the
query itself.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ANY = "skip-till-any-match"
NEXT = "skip-till-next-match"
CONTIGUOUS = "contiguous"


# Two events with equal contents are still two events, so they compare by identity.
@dataclass(frozen=True, eq=False)
class Event:
    time: int  # microseconds
    type: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


# ---- patterns ----


@dataclass(frozen=True)
class Leaf:
    type: str
    alias: str = ""


@dataclass(frozen=True)
class Seq:
    parts: tuple["Pattern", ...]


@dataclass(frozen=True)
class Plus:
    inner: "Pattern"


@dataclass(frozen=True)
class Star:
    inner: "Pattern"


@dataclass(frozen=True)
class Opt:
    inner: "Pattern"


@dataclass(frozen=True)
class Or:
    parts: tuple["Pattern", ...]


@dataclass(frozen=True)
class And:
    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True)
class Not:
    inner: "Pattern"


Pattern = Leaf | Seq | Plus | Star | Opt | Or | And | Not


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    match pattern:
        case Leaf():
            return ()
        case Seq(parts) | Or(parts):
            return parts
        case And(left, right):
            return (left, right)
        case Plus(inner) | Star(inner) | Opt(inner) | Not(inner):
            return (inner,)


def leaves(pattern: Pattern, under_not: bool = True) -> Iterator[Leaf]:
    """The leaves in the order of the text, with or without those under a NOT."""
    if isinstance(pattern, Leaf):
        yield pattern
    elif under_not or not isinstance(pattern, Not):
        for child in children(pattern):
            yield from leaves(child, under_not)


# ---- expressions ----


@dataclass(frozen=True)
class Attr:
    """`name.attribute`, or `NEXT(name).attribute`."""

    name: str
    attribute: str
    next: bool = False


@dataclass(frozen=True)
class Const:
    value: int | float | str | bool


@dataclass(frozen=True)
class Minus:
    inner: "Expression"


@dataclass(frozen=True)
class Arith:
    op: str  # + - * / %
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Compare:
    op: str  # = != < <= > >=
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class In:
    inner: "Expression"
    values: tuple[Const, ...]


@dataclass(frozen=True)
class Between:
    inner: "Expression"
    low: "Expression"
    high: "Expression"


@dataclass(frozen=True)
class IsNull:
    inner: "Expression"
    negated: bool = False


@dataclass(frozen=True)
class AllOf:
    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class Negate:
    inner: "Expression"


@dataclass(frozen=True)
class Aggregate:
    """`COUNT(*)` (without a name), `COUNT(name)`, `SUM(name.attribute)`; in RETURN and HAVING."""

    function: str = "COUNT"
    name: str = ""
    attribute: str = ""
    label: str = ""

    @property
    def text(self) -> str:
        if not self.name:
            return f"{self.function}(*)"
        place = f".{quoted(self.attribute)}" if self.attribute else ""
        return f"{self.function}({quoted(self.name)}{place})"

    @property
    def column(self) -> str:
        return self.label or self.text


Expression = (
    Attr
    | Const
    | Minus
    | Arith
    | Compare
    | In
    | Between
    | IsNull
    | AllOf
    | AnyOf
    | Negate
    | Aggregate
)


def operands(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Attr() | Const() | Aggregate():
            return ()
        case Minus(inner) | Negate(inner) | IsNull(inner) | In(inner):
            return (inner,)
        case Arith(_, left, right) | Compare(_, left, right):
            return (left, right)
        case Between(inner, low, high):
            return (inner, low, high)
        case AllOf(parts) | AnyOf(parts):
            return parts


def terms(expression: Expression) -> Iterator[Expression]:
    """The expression and everything in it."""
    yield expression
    for operand in operands(expression):
        yield from terms(operand)


def subject(condition: Expression, of_next: bool = False) -> str:
    """The one name a local condition is about, or one of the two of an adjacent condition."""
    names = {t.name for t in terms(condition) if isinstance(t, Attr) and t.next == of_next}
    (name,) = names
    return name


# ---- queries ----


@dataclass(frozen=True)
class GroupItem:
    """A group attribute in RETURN."""

    attribute: str
    label: str = ""


@dataclass(frozen=True)
class Window:
    within: int  # microseconds or events
    slide: int | None = None  # None: not written, so the window tumbles
    unit: str = "time"  # or "events"

    @property
    def step(self) -> int:
        return self.within if self.slide is None else self.slide


@dataclass(frozen=True)
class Query:
    pattern: Pattern
    returns: tuple[GroupItem | Aggregate, ...] = (Aggregate(),)
    window: Window = Window(1_000_000)
    name: str = ""
    semantics: str = ANY
    equivalence: tuple[str, ...] = ()
    local: tuple[Expression, ...] = ()
    adjacent: tuple[Expression, ...] = ()
    min_length: int = 0  # 0: no LENGTH condition
    group_by: tuple[str, ...] = ()
    having: Expression | None = None

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return tuple(item for item in self.returns if isinstance(item, Aggregate))

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The names of the group attributes in the result."""
        items = [item for item in self.returns if isinstance(item, GroupItem)]
        labels = {item.attribute: item.label for item in items if item.label}
        return tuple(labels.get(attribute, attribute) for attribute in self.group_by)


def query_names(queries: tuple[Query, ...]) -> tuple[str, ...]:
    """An unnamed query is called after its place in the file."""
    return tuple(query.name or f"q{place}" for place, query in enumerate(queries, 1))


# ---- text ----

WORDS = """
    query return pattern semantics where group by having within slide as seq not and or in between
    is null true false next length count sum min max avg event events
"""
KEYWORDS = frozenset(WORDS.split())
UNITS = (
    ("days", 86_400_000_000),
    ("hours", 3_600_000_000),
    ("minutes", 60_000_000),
    ("seconds", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
)


def quoted(name: str) -> str:
    is_identifier = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    return name if is_identifier and name.lower() not in KEYWORDS else f'"{name}"'


def pattern_text(pattern: Pattern) -> str:
    match pattern:
        case Leaf(type, alias):
            return f"{quoted(type)} {quoted(alias)}" if alias else quoted(type)
        case Seq(parts):
            return f"SEQ({', '.join(pattern_text(part) for part in parts)})"
        case Or(parts):
            return " | ".join(_operand_text(part) for part in parts)
        case And(left, right):
            return f"{_operand_text(left)} & {_operand_text(right)}"
        case Not(inner):
            return f"NOT {_operand_text(inner)}"
        case Plus(inner):
            return f"{_repeated_text(inner)}+"
        case Star(inner):
            return f"{_repeated_text(inner)}*"
        case Opt(inner):
            return f"{_repeated_text(inner)}?"


def _operand_text(pattern: Pattern) -> str:
    text = pattern_text(pattern)
    return f"({text})" if isinstance(pattern, Or) else text


def _repeated_text(pattern: Pattern) -> str:
    text = pattern_text(pattern)
    return text if isinstance(pattern, Leaf) else f"({text})"


def binding(expression: Expression) -> int:
    """How tightly the text of an expression holds together, as in SQL."""
    match expression:
        case AnyOf():
            return 0
        case AllOf():
            return 1
        case Negate():
            return 2
        case Compare() | In() | Between() | IsNull():
            return 3
        case Arith("+" | "-"):
            return 4
        case Arith():
            return 5
        case Minus():
            return 6
        case Attr() | Const() | Aggregate():
            return 7


def expression_text(expression: Expression, least: int = 0) -> str:
    """In brackets if it holds together less tightly than its place demands."""
    text = _bare_text(expression, binding(expression))
    return f"({text})" if binding(expression) < least else text


def _bare_text(expression: Expression, own: int) -> str:
    match expression:
        case Attr(name, attribute, is_next):
            holder = f"NEXT({quoted(name)})" if is_next else quoted(name)
            return f"{holder}.{quoted(attribute)}"
        case Const(value):
            return _constant_text(value)
        case Aggregate():
            return expression.text
        case Minus(inner):
            # Two dashes would begin a comment.
            return f"-{expression_text(inner, 8 if isinstance(inner, Const) else 7)}"
        case Arith(op, left, right) | Compare(op, left, right):
            # From the left: a - b - c is (a - b) - c, and a comparison of comparisons is none.
            first = own if isinstance(expression, Arith) else own + 1
            return f"{expression_text(left, first)} {op} {expression_text(right, own + 1)}"
        case In(inner, values):
            constants = ", ".join(_constant_text(constant.value) for constant in values)
            return f"{expression_text(inner, 4)} IN ({constants})"
        case Between(inner, low, high):
            value, *bounds = (expression_text(part, 4) for part in (inner, low, high))
            return f"{value} BETWEEN {' AND '.join(bounds)}"
        case IsNull(inner, negated):
            return f"{expression_text(inner, 4)} IS {'NOT ' if negated else ''}NULL"
        case AllOf(parts):
            return " AND ".join(expression_text(part, 2) for part in parts)
        case AnyOf(parts):
            return " OR ".join(expression_text(part, 1) for part in parts)
        case Negate(inner):
            return f"NOT ({expression_text(inner)})"


def _constant_text(value: int | float | str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _returned_text(item: GroupItem | Aggregate) -> str:
    text = quoted(item.attribute) if isinstance(item, GroupItem) else item.text
    return f"{text} AS {quoted(item.label)}" if item.label else text


def _where_text(query: Query) -> str:
    parts = [f"[{_list_text(query.equivalence)}]"] if query.equivalence else []
    # AND between the conditions would tear an OR apart.
    parts += [expression_text(condition, 1) for condition in query.local + query.adjacent]
    if query.min_length:
        parts.append(f"LENGTH >= {query.min_length}")
    return " AND ".join(parts)


def _list_text(names: tuple[str, ...]) -> str:
    return ", ".join(quoted(name) for name in names)


def _length_text(length: int, unit: str) -> str:
    if unit == "events":
        return f"{length} events"
    word, size = next((word, size) for word, size in UNITS if length % size == 0)
    return f"{length // size} {word}"


def _window_text(window: Window) -> str:
    text = f"WITHIN {_length_text(window.within, window.unit)}"
    if window.slide is not None:
        text += f" SLIDE {_length_text(window.slide, window.unit)}"
    return text


def to_text(query: Query) -> str:
    """The query in the language of semantics.md, a clause a line."""
    where = _where_text(query)
    lines = (
        query.name and f"QUERY {quoted(query.name)}",
        "RETURN " + ", ".join(_returned_text(item) for item in query.returns),
        f"PATTERN {pattern_text(query.pattern)}",
        f"SEMANTICS {query.semantics}",
        where and f"WHERE {where}",
        query.group_by and f"GROUP-BY {_list_text(query.group_by)}",
        query.having and f"HAVING {expression_text(query.having)}",
        _window_text(query.window),
    )
    return "\n".join(line for line in lines if line)


def workload_text(queries: tuple[Query, ...]) -> str:
    return "\n\n".join(to_text(query) for query in queries)
