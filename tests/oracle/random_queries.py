"""Random queries: conditions that fit a pattern, the other clauses, workloads that share parts."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from oracle.choices import Size, Tape
from oracle.model import (
    ANY,
    CONTIGUOUS,
    NEXT,
    Aggregate,
    AllOf,
    And,
    AnyOf,
    Arith,
    Attr,
    Between,
    Compare,
    Const,
    Expression,
    GroupItem,
    In,
    IsNull,
    Leaf,
    Minus,
    Negate,
    Pattern,
    Query,
    Seq,
    Window,
    leaves,
)
from oracle.random_patterns import PatternDraw, may_be_empty, neighbours

QUERY_BYTES = 200  # few queries need more choices

# ---- conditions ----

NUMBERS = (0, 1, 2, -1, 0.5, 3, -2, 1, 0, 2, 100)  # no event has 100
STRINGS = ("a", "b", "c", "")
QUOTIENTS = ("AVG", "VARIANCE", "STDDEV")
COMPARISONS = ("<", "=", ">", "!=", "<=", ">=")


def numeric(tape: Tape, name: str, is_next: bool = False) -> Expression:
    """A number made from attributes of one name."""
    attribute = Attr(name, tape.one_of("x", "x", "x", "y", "y", "g"), is_next)
    match tape.one_of("plain", "plain", "plain", "plain", "arithmetic", "both", "minus", "rest"):
        case "arithmetic":
            return Arith(tape.one_of("+", "-", "*", "/"), attribute, a_number(tape))
        case "both":
            return Arith(tape.one_of("+", "-", "*", "/"), attribute, Attr(name, "y", is_next))
        case "minus":
            return Minus(attribute)
        case "rest":
            # Squared, since the sign of a remainder of a negative number is not laid down.
            return Arith("%", Arith("*", attribute, attribute), Const(tape.one_of(2, 3, 0)))
    return attribute


def a_number(tape: Tape) -> Const:
    return Const(tape.one_of(*NUMBERS))


def comparison(tape: Tape, left: Expression, right: Expression) -> Expression:
    return Compare(tape.one_of(*COMPARISONS), left, right)


def local_atom(tape: Tape, name: str) -> Expression:
    match tape.one_of("number", "number", "in", "between", "null", "attributes", "text", "truth"):
        case "in":
            count = tape.number(1, 3)
            return In(numeric(tape, name), tuple(a_number(tape) for _ in range(count)))
        case "between":
            return Between(numeric(tape, name), a_number(tape), a_number(tape))
        case "null":
            nullable = tape.one_of(Attr(name, "s"), Attr(name, "f"), numeric(tape, name))
            return IsNull(nullable, tape.chance(50))
        case "attributes":
            return comparison(tape, numeric(tape, name), numeric(tape, name))
        case "text":
            return text_atom(tape, name)
        case "truth":
            return Compare(tape.one_of("=", "!="), Attr(name, "f"), Const(tape.chance(50)))
    return comparison(tape, numeric(tape, name), a_number(tape))


def text_atom(tape: Tape, name: str) -> Expression:
    attribute = Attr(name, "s")
    if tape.chance(30):
        return In(attribute, tuple(Const(s) for s in tape.some_of(STRINGS, 2)) or (Const("a"),))
    return comparison(tape, attribute, Const(tape.one_of(*STRINGS)))


def adjacent_atom(tape: Tape, name: str, next_name: str) -> Expression:
    """Always about both names: a part about one alone would be a local condition."""
    match tape.one_of("number", "number", "text", "between", "turned", "sum", "or null"):
        case "text":
            return comparison(tape, Attr(name, "s"), Attr(next_name, "s", next=True))
        case "between":
            low, high = numeric(tape, next_name, True), numeric(tape, next_name, True)
            return Between(numeric(tape, name), low, high)
        case "sum":
            both = Arith("+", numeric(tape, name), numeric(tape, next_name, True))
            return comparison(tape, both, a_number(tape))
        case "or null":
            two = comparison(tape, Attr(name, "x"), Attr(next_name, "x", next=True))
            return AnyOf((IsNull(Attr(name, "x")), two))
        case "turned":
            return comparison(tape, numeric(tape, next_name, True), numeric(tape, name))
    return comparison(tape, numeric(tape, name), numeric(tape, next_name, True))


def combined(tape: Tape, atom: Callable[[], Expression]) -> Expression:
    """An atom, or a few of them under AND, OR and NOT."""
    match tape.one_of("atom", "atom", "atom", "atom", "or", "not", "nested"):
        case "or":
            return AnyOf((atom(), atom()))
        case "not":
            return Negate(atom())
        case "nested":
            both = AllOf((atom(), atom()))
            return tape.one_of(AnyOf((both, atom())), Negate(both), Negate(AnyOf((both, atom()))))
    return atom()


def names_of(leaf: Leaf) -> tuple[str, ...]:
    return (leaf.alias, leaf.type) if leaf.alias else (leaf.type,)


def local_conditions(tape: Tape, pattern: Pattern) -> tuple[Expression, ...]:
    found = []
    for _ in range(tape.one_of(0, 0, 0, 0, 0, 1, 1, 2)):
        leaf = tape.one_of(*leaves(pattern))
        name = tape.one_of(*names_of(leaf))
        found.append(combined(tape, lambda name=name: local_atom(tape, name)))
    return tuple(found)


def adjacent_conditions(tape: Tape, pattern: Pattern) -> tuple[Expression, ...]:
    pairs = sorted(neighbours(pattern), key=repr)  # sorted, since a set has no order to repeat
    found = []
    for _ in range(tape.one_of(0, 0, 0, 0, 1, 2) if pairs else 0):
        left, right = tape.one_of(*pairs)
        names = tape.one_of(*names_of(left)), tape.one_of(*names_of(right))
        found.append(combined(tape, lambda names=names: adjacent_atom(tape, *names)))
    return tuple(found)


# ---- the other clauses ----


def aggregate_names(pattern: Pattern) -> list[str]:
    """A type or alias that stands under NOT only has no events to aggregate."""
    return sorted({name for leaf in leaves(pattern, under_not=False) for name in names_of(leaf)})


def one_aggregate(tape: Tape, names: Sequence[str]) -> Aggregate:
    match tape.one_of("*", "*", "COUNT", "SUM", "MIN", "MAX", "AVG", "VARIANCE", "STDDEV"):
        case "*":
            return Aggregate()
        case "COUNT":
            return Aggregate("COUNT", tape.one_of(*names))
        case function:
            return Aggregate(function, tape.one_of(*names), tape.one_of("x", "x", "y"))


def draw_aggregates(tape: Tape, pattern: Pattern) -> tuple[Aggregate, ...]:
    if isinstance(pattern, And):
        return (Aggregate(),)
    names = aggregate_names(pattern)
    drawn = [one_aggregate(tape, names) for _ in range(tape.number(1, 4))]
    return tuple(dict.fromkeys(drawn))


def draw_returns(
    tape: Tape, aggregates: tuple[Aggregate, ...], group_by: tuple[str, ...]
) -> tuple[GroupItem | Aggregate, ...]:
    groups = tuple(
        GroupItem(attribute, f"{attribute}_key" if tape.chance(20) else "")
        for attribute in tape.some_of(group_by, len(group_by))
    )
    # The column of a quoted name is not laid down, so such an aggregate always has a label.
    labelled = tuple(
        replace(a, label=f"v{place}") if tape.chance(25) or '"' in a.text else a
        for place, a in enumerate(aggregates)
    )
    return tape.one_of(groups + labelled, labelled + groups)


def draw_having(tape: Tape, aggregates: tuple[Aggregate, ...]) -> Expression | None:
    if not tape.chance(15):
        return None
    return combined(tape, lambda: having_atom(tape, aggregates))


def having_atom(tape: Tape, aggregates: tuple[Aggregate, ...]) -> Expression:
    one = tape.one_of(*aggregates)
    left: Expression = one
    match tape.one_of("compare", "compare", "between", "null", "in", "arithmetic"):
        case "between":
            return Between(one, Const(tape.number(-2, 3)), Const(tape.number(2, 20)))
        case "null":
            return IsNull(one, tape.chance(50))
        case "in":
            return In(one, tuple(Const(tape.number(0, 8)) for _ in range(3)))
        case "arithmetic":
            # Doubles hold these exactly, but not a quotient that is computed with further.
            whole = [a for a in aggregates if a.function not in QUOTIENTS] or [Aggregate()]
            left = Arith(tape.one_of("+", "-", "*"), tape.one_of(*whole), Const(2))
    return comparison(tape, left, Const(tape.one_of(1, 2, 0, 4, 8, -1, 0.5)))


def draw_window(tape: Tape, scale: int, size: Size) -> Window:
    if tape.chance(25):
        within, unit, scale = min(tape.one_of(5, 6, 7, 8, 4, 6, 3, 2, 1), size.load), "events", 1
    else:
        within, unit = tape.one_of(100, 40, 20, 100, 40, 20, 12, 12, 10, 7, 5, 3, 1), "time"
    if tape.chance(40):
        return Window(within * scale, None, unit)
    slide = tape.number(-(-within // size.overlap), within)
    return Window(within * scale, slide * scale, unit)


def draw_keys(tape: Tape, unit: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """GROUP-BY and the equivalence attributes."""
    group_by = tape.some_of(("g", "h"), tape.one_of(0, 0, 0, 1, 1, 2))
    # A count window is one of a partition, so that its rows cannot be combined over partitions.
    allowed = group_by if unit == "events" else ("g", "h", "g", "h", "s")
    return group_by, tape.some_of(allowed, tape.one_of(0, 0, 0, 0, 1, 2))


# ---- queries and workloads ----


def draw_query(tape: Tape, types: tuple[str, ...], scale: int, size: Size) -> Query:
    window = draw_window(tape, scale, size)
    group_by, equivalence = draw_keys(tape, window.unit)
    frame = Query(
        pattern=PatternDraw(tape, types, size).whole(),
        window=window,
        semantics=tape.one_of(ANY, ANY, ANY, NEXT, NEXT, CONTIGUOUS),
        group_by=group_by,
        equivalence=equivalence,
    )
    return fill(tape, frame)


def fill(tape: Tape, frame: Query) -> Query:
    """The clauses that depend on the pattern."""
    aggregates = draw_aggregates(tape, frame.pattern)
    return replace(
        frame,
        returns=draw_returns(tape, aggregates, frame.group_by),
        local=local_conditions(tape, frame.pattern),
        adjacent=adjacent_conditions(tape, frame.pattern),
        min_length=tape.one_of(2, 3, 1, 4) if tape.chance(15) else 0,
        having=draw_having(tape, aggregates),
    )


def vary(tape: Tape, other: Query, query: Query) -> Query:
    """A query with a part of another one: only queries that are alike are shared."""
    match tape.one_of("nothing", "pattern", "frame", "all but the pattern", "all but a part"):
        case "pattern":
            return fill(tape, replace(query, pattern=other.pattern))
        case "frame":
            return fill(tape, other)
        case "all but the pattern":
            return fill(tape, replace(other, pattern=query.pattern))
        case "all but a part":
            return fill(tape, replace(other, pattern=grafted(tape, other.pattern, query.pattern)))
    return query


def grafted(tape: Tape, stock: Pattern, scion: Pattern) -> Pattern:
    """A sequence with one part from another: where two queries share a Kleene part, mostly."""
    if not (isinstance(stock, Seq) and isinstance(scion, Seq)):
        return stock
    parts = list(stock.parts)
    parts[tape.number(0, len(parts) - 1)] = tape.one_of(*scion.parts)
    pattern = Seq(tuple(parts))
    return stock if may_be_empty(pattern) else pattern


def draw_queries(
    tapes: list[Tape], types: tuple[str, ...], scale: int, size: Size
) -> tuple[Query, ...]:
    queries: list[Query] = []
    for place, tape in enumerate(tapes, 1):
        query = draw_query(tape, types, scale, size)
        if queries:
            query = vary(tape, tape.one_of(*queries), query)
        queries.append(replace(query, name=tape.one_of("", f"query_{place}")))
    return tuple(queries)
