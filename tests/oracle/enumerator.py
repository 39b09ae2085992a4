"""Lists every trend of a small stream and aggregates the list.

Written from the definitions of semantics.md to be obviously right, not fast, and imports nothing
that it judges. From the top: how a pattern reads a row of types, when a condition is true, which
events make a trend, which events stand in one partition and window, what a row of results holds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from oracle.model import (
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
    Event,
    Expression,
    In,
    IsNull,
    Leaf,
    Minus,
    Negate,
    Not,
    Opt,
    Or,
    Pattern,
    Plus,
    Query,
    Seq,
    Star,
    Window,
    leaves,
    subject,
    terms,
)

Trend = tuple[Event, ...]
Moment = tuple[int, ...]
Value = int | float | Fraction | None
Group = tuple[Any, ...]
Key = tuple[int, int, Group]  # window_start, window_end, values of the GROUP-BY attributes
Results = dict[Key, dict[str, Value]]


class AmbiguousBinding(Exception):
    """Two bindings of one trend differ in the events of an alias that is aggregated."""


# ---- how a pattern reads a row of types ----


@dataclass(frozen=True)
class Reading:
    """A path through a pattern: a leaf for each event, and the NOTs that it passes.

    A guard (i, N) forbids N in the gap before event i; i = number of events is the gap behind the
    last one.
    """

    leaves: tuple[Leaf, ...] = ()
    guards: frozenset[tuple[int, Pattern]] = frozenset()

    def then(self, later: "Reading") -> "Reading":
        moved = {(len(self.leaves) + gap, pattern) for gap, pattern in later.guards}
        return Reading(self.leaves + later.leaves, self.guards | moved)


Readings = frozenset[Reading]
Types = tuple[str, ...]
NONE: Readings = frozenset()
NOTHING_READ: Readings = frozenset({Reading()})


def joined(heads: Readings, tails: Readings) -> Readings:
    return frozenset(head.then(tail) for head in heads for tail in tails)


def union(parts: Iterable[Readings]) -> Readings:
    return NONE.union(*parts)


@lru_cache(maxsize=1 << 14)
def readings(pattern: Pattern, types: Types) -> Readings:
    """Every way to read all of `types` as the whole pattern."""
    cuts = range(len(types) + 1)
    match pattern:
        case Leaf(name):
            return frozenset({Reading((pattern,))}) if types == (name,) else NONE
        case Not(inner):
            return frozenset({Reading(guards=frozenset({(0, inner)}))}) if not types else NONE
        case Or(parts):
            return union(readings(part, types) for part in parts)
        case Opt(inner):
            return readings(inner, types) | (NONE if types else NOTHING_READ)
        case Star(inner):
            return readings(Opt(Plus(inner)), types)
        case Plus(inner):
            # One round, or a round that reads something and then further rounds. Rounds that read
            # nothing in between could only add guards, so leaving them out loses no trend.
            return readings(inner, types) | union(
                joined(readings(inner, types[:cut]), readings(pattern, types[cut:]))
                for cut in cuts[1:-1]
            )
        case Seq((only,)):
            return readings(only, types)
        case Seq((first, *rest)):
            return union(
                joined(readings(first, types[:cut]), readings(Seq(tuple(rest)), types[cut:]))
                for cut in cuts
            )
    raise TypeError(f"a pattern inside a pattern cannot be {pattern}")


@lru_cache(maxsize=1 << 14)
def beginnings(pattern: Pattern, types: Types) -> Readings:
    """Every way to read `types` (not empty) as the beginning of the pattern.

    The path ends at the last event: NOTs behind it are not passed yet.
    """
    shorter = range(len(types))
    match pattern:
        case Leaf():
            return readings(pattern, types)
        case Not():
            return NONE
        case Or(parts):
            return union(beginnings(part, types) for part in parts)
        case Opt(inner):
            return beginnings(inner, types)
        case Star(inner):
            return beginnings(Plus(inner), types)
        case Plus(inner):
            return beginnings(inner, types) | union(
                joined(readings(inner, types[:cut]), beginnings(pattern, types[cut:]))
                for cut in shorter[1:]
            )
        case Seq((only,)):
            return beginnings(only, types)
        case Seq((first, *rest)):
            return beginnings(first, types) | union(
                joined(readings(first, types[:cut]), beginnings(Seq(tuple(rest)), types[cut:]))
                for cut in shorter
            )
    raise TypeError(f"a pattern inside a pattern cannot be {pattern}")


# ---- when a condition is true ----


def known(value: Any) -> Any:
    """NaN is null."""
    return None if value != value else value


def evaluate(expression: Expression, values: Mapping[Any, Any]) -> Any:
    """The value of an expression, given those of its attributes or aggregates.

    None is null, and also the third truth value, unknown.
    """

    def value(part: Expression) -> Any:
        return evaluate(part, values)

    match expression:
        case Attr() | Aggregate():
            return values[expression]
        case Const(constant):
            return constant
        case Minus(inner):
            return arithmetic("-", 0, value(inner))
        case Arith(op, left, right):
            return arithmetic(op, value(left), value(right))
        case Compare(op, left, right):
            return compared(op, value(left), value(right))
        case In(inner, constants):
            return any_of([compared("=", value(inner), value(c)) for c in constants])
        case Between(inner, low, high):
            return all_of(
                [
                    compared(">=", value(inner), value(low)),
                    compared("<=", value(inner), value(high)),
                ]
            )
        case IsNull(inner, negated):
            return (value(inner) is None) != negated
        case AllOf(parts):
            return all_of([value(part) for part in parts])
        case AnyOf(parts):
            return any_of([value(part) for part in parts])
        case Negate(inner):
            return inverse(value(inner))
    raise TypeError(f"no expression: {expression}")


def arithmetic(op: str, left: Any, right: Any) -> float | None:
    if left is None or right is None or (op in "/%" and right == 0):
        return None
    a, b = float(left), float(right)
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case "%":
            return a % b
    raise ValueError(op)


def compared(op: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    match op:
        case "=":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
    raise ValueError(op)


def all_of(truths: Sequence[bool | None]) -> bool | None:
    if any(truth is False for truth in truths):
        return False
    return None if None in truths else True


def any_of(truths: Sequence[bool | None]) -> bool | None:
    return inverse(all_of([inverse(truth) for truth in truths]))


def inverse(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def is_true(condition: Expression, event: Event, following: Event | None = None) -> bool:
    """A local condition on an event, or an adjacent one on it and the next event of the trend."""
    holders = {False: event, True: following or event}
    values = {
        term: known(holders[term.next].attributes.get(term.attribute))
        for term in terms(condition)
        if isinstance(term, Attr)
    }
    return evaluate(condition, values) is True


# ---- which events make a trend ----


class Scope:
    """The events of one partition and one window, and the trends of a query among them."""

    def __init__(self, query: Query, events: Trend, moment: Mapping[Event, Moment]) -> None:
        self.query = query
        self.events = events
        self.moment = moment
        self.aliases = {leaf.alias for leaf in leaves(query.pattern) if leaf.alias}
        # Remembered answers only save time; a key holds all that its answer depends on.
        self._partial: dict[tuple[Pattern, Trend], bool] = {}
        self._absent: dict[tuple[Pattern, Event | None, Event | None], bool] = {}

    def trends(self, pattern: Pattern) -> Iterator[Trend]:
        for trend in self.partial_trends(pattern, self.events):
            if self.is_trend(pattern, trend):
                yield trend

    def is_trend(self, pattern: Pattern, trend: Trend) -> bool:
        return (
            bool(self.bindings(pattern, trend))
            and len(trend) >= self.query.min_length
            and self.skips_rightly(pattern, trend)
        )

    def bindings(self, pattern: Pattern, trend: Trend) -> list[Reading]:
        """The ways to bind the events that meet every condition and every NOT."""
        return [r for r in readings(pattern, types_of(trend)) if self.holds(r, trend)]

    def is_partial_trend(self, pattern: Pattern, trend: Trend) -> bool:
        if (pattern, trend) not in self._partial:
            started = beginnings(pattern, types_of(trend))
            self._partial[pattern, trend] = any(self.holds(r, trend) for r in started)
        return self._partial[pattern, trend]

    def partial_trends(self, pattern: Pattern, events: Trend) -> Iterator[Trend]:
        """Every beginning of a trend is a partial trend, so those can be grown event by event."""
        grown: list[Trend] = [(event,) for event in events]
        while grown:
            trend = grown.pop()
            if self.is_partial_trend(pattern, trend):
                yield trend
                grown += [(*trend, e) for e in events if self.precedes(trend[-1], e)]

    def holds(self, reading: Reading, trend: Trend) -> bool:
        return (
            all(map(self.meets_local, reading.leaves, trend))
            and all(
                self.meets_adjacent(reading.leaves[i : i + 2], trend[i : i + 2])
                for i in range(len(trend) - 1)
            )
            and all(self.is_absent(pattern, *gap(trend, i)) for i, pattern in reading.guards)
        )

    def meets_local(self, leaf: Leaf, event: Event) -> bool:
        return all(
            is_true(condition, event)
            for condition in self.query.local
            if self.denotes(subject(condition), leaf)
        )

    def meets_adjacent(self, neighbours: tuple[Leaf, ...], events: Trend) -> bool:
        leaf, next_leaf = neighbours
        return all(
            is_true(condition, *events)
            for condition in self.query.adjacent
            if self.denotes(subject(condition), leaf)
            and self.denotes(subject(condition, of_next=True), next_leaf)
        )

    def denotes(self, name: str, leaf: Leaf) -> bool:
        return name == (leaf.alias if name in self.aliases else leaf.type)

    def is_absent(self, pattern: Pattern, before: Event | None, after: Event | None) -> bool:
        """NOT: the pattern has no match, under skip-till-any-match, strictly inside the gap."""
        if (pattern, before, after) not in self._absent:
            inside = tuple(self.strictly_between(before, after))
            found = any(self.bindings(pattern, t) for t in self.partial_trends(pattern, inside))
            self._absent[pattern, before, after] = not found
        return self._absent[pattern, before, after]

    def skips_rightly(self, pattern: Pattern, trend: Trend) -> bool:
        return not any(
            self.may_not_skip(pattern, trend[:i], event)
            for i in range(1, len(trend))
            for event in self.strictly_between(*gap(trend, i))
        )

    def may_not_skip(self, pattern: Pattern, begun: Trend, event: Event) -> bool:
        if self.query.semantics == NEXT:
            return self.is_partial_trend(pattern, (*begun, event))
        return self.query.semantics == CONTIGUOUS

    def precedes(self, event: Event, other: Event) -> bool:
        return self.moment[event] < self.moment[other]

    def strictly_between(self, before: Event | None, after: Event | None) -> Iterator[Event]:
        """None stands for the start or the end of the window."""
        for event in self.events:
            if (before is None or self.precedes(before, event)) and (
                after is None or self.precedes(event, after)
            ):
                yield event

    def covered(self, name: str, trend: Trend) -> Trend:
        """The events of a trend that an aggregate of this name is about."""
        if name not in self.aliases:
            return tuple(event for event in trend if event.type == name)
        bound = {
            tuple(event for event, leaf in zip(trend, r.leaves, strict=True) if leaf.alias == name)
            for r in self.bindings(self.query.pattern, trend)
        }
        if len(bound) > 1:
            raise AmbiguousBinding(f"{name} has {len(bound)} bindings in {trend}")
        return bound.pop()


def types_of(trend: Trend) -> Types:
    return tuple(event.type for event in trend)


def gap(trend: Trend, i: int) -> tuple[Event | None, Event | None]:
    """The neighbours around the gap before event i."""
    return (trend[i - 1] if i > 0 else None, trend[i] if i < len(trend) else None)


# ---- which events stand in one partition and window ----


def moments(events: Sequence[Event], ties: str) -> dict[Event, Moment]:
    """What orders the events: the time alone, or the time and then the arrival."""
    if len(set(events)) < len(events):
        raise ValueError("an event object may stand only once in a stream")
    if ties == "arrival":
        return {event: (event.time, arrival) for arrival, event in enumerate(events)}
    return {event: (event.time,) for event in events}


def key_of(event: Event, attributes: tuple[str, ...]) -> Group:
    return tuple(known(event.attributes.get(attribute)) for attribute in attributes)


def partitions(query: Query, events: Sequence[Event]) -> dict[Group, list[Event]]:
    """The events in order of time, then arrival; the key begins with the GROUP-BY values."""
    split: dict[Group, list[Event]] = {}
    for event in sorted(events, key=lambda event: event.time):  # sorting is stable
        split.setdefault(key_of(event, query.group_by + query.equivalence), []).append(event)
    return split


def time_windows(time: int, window: Window) -> Iterator[tuple[int, int]]:
    start = time // window.step * window.step
    while time < start + window.within:
        yield start, start + window.within
        start -= window.step


def windows(window: Window, events: Sequence[Event]) -> dict[tuple[int, int], Trend]:
    """The events of a partition by window."""
    if window.unit == "events":
        starts = range(0, len(events) - window.within + 1, window.step)
        return {(s, s + window.within - 1): tuple(events[s : s + window.within]) for s in starts}
    split: dict[tuple[int, int], Trend] = {}
    for event in events:
        for bounds in time_windows(event.time, window):
            split[bounds] = (*split.get(bounds, ()), event)
    return split


def scopes(
    query: Query, events: Sequence[Event], ties: str = "strict"
) -> Iterator[tuple[Key, Scope]]:
    moment = moments(events, ties)
    for key, partition in partitions(query, events).items():
        for (start, end), inside in windows(query.window, partition).items():
            yield (start, end, key[: len(query.group_by)]), Scope(query, inside, moment)


# ---- what a row of results holds ----


class Row:
    """All trends of one window and group, over its partitions."""

    def __init__(self) -> None:
        self.count = 0
        self.covered: dict[str, list[Event]] = {}

    def add(self, scope: Scope, names: set[str]) -> None:
        pattern = scope.query.pattern
        if isinstance(pattern, And):
            self.count += len(pairs(scope, pattern))
            return
        for trend in scope.trends(pattern):
            self.count += 1
            for name in names:
                self.covered.setdefault(name, []).extend(scope.covered(name, trend))

    def value(self, aggregate: Aggregate) -> Value:
        if not aggregate.name:
            return self.count
        events = self.covered[aggregate.name]
        if aggregate.function == "COUNT":
            return len(events)
        values = [known(event.attributes.get(aggregate.attribute)) for event in events]
        return folded(aggregate.function, [value for value in values if value is not None])


def pairs(scope: Scope, pattern: And) -> set[frozenset[Trend]]:
    """`P & Q`: the unordered pairs of a trend of P and a different trend of Q."""
    left = list(scope.trends(pattern.left))
    right = list(scope.trends(pattern.right))
    return {frozenset((p, q)) for p in left for q in right if p != q}


def folded(function: str, values: list[int | float]) -> Value:
    if not values:
        return None
    match function:
        case "SUM":
            return sum(exact(value) for value in values)
        case "AVG":
            return Fraction(sum(exact(value) for value in values)) / len(values)
        case "VARIANCE":
            return variance(values)
        case "STDDEV":
            return square_root(variance(values))
        case "MIN":
            return min(values)
        case "MAX":
            return max(values)
    raise ValueError(function)


def variance(values: list[int | float]) -> Fraction:
    """Of the population: the mean of the squared distances from the mean."""
    mean = Fraction(sum(exact(value) for value in values)) / len(values)
    return sum((exact(value) - mean) ** 2 for value in values) / len(values)


def square_root(value: Fraction) -> float:
    """With so many digits that rounding them to a double is rounding the root itself."""
    with localcontext(prec=400):
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def exact(value: int | float) -> int | Fraction:
    return value if isinstance(value, int) else Fraction(value)


def needed_aggregates(query: Query) -> list[Aggregate]:
    having = terms(query.having) if query.having is not None else ()
    return [*query.aggregates, *(term for term in having if isinstance(term, Aggregate))]


def enumerate_query(query: Query, events: Sequence[Event], ties: str = "strict") -> Results:
    """The rows of a query over a bounded input, exactly: by window and group, then by column."""
    aggregates = needed_aggregates(query)
    names = {aggregate.name for aggregate in aggregates if aggregate.name}
    if isinstance(query.pattern, And) and names:
        raise ValueError("a conjunction has COUNT(*) only")
    rows: dict[Key, Row] = {}
    for key, scope in scopes(query, events, ties):
        rows.setdefault(key, Row()).add(scope, names)
    results: Results = {}
    for key, row in rows.items():
        if row.count and meets_having(query, row):
            results[key] = {a.column: row.value(a) for a in query.aggregates}
    return results


def meets_having(query: Query, row: Row) -> bool:
    if query.having is None:
        return True
    values = {a: row.value(a) for a in terms(query.having) if isinstance(a, Aggregate)}
    return evaluate(query.having, values) is True


def enumerate_trends(query: Query, events: Sequence[Event], ties: str = "strict") -> list[Trend]:
    """The trends of all partitions and windows, for a query without a conjunction."""
    return [t for _, scope in scopes(query, events, ties) for t in scope.trends(query.pattern)]
