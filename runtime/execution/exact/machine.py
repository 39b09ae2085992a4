"""The automaton of a query, made deterministic on demand if necessary.

A partial trend is a sequence of events; the *subset* of positions that its bindings can have
reached does not depend on the binding, so a trend is counted once. Subsets are built when they are
first reached and cached with their steps. If a step depends on the pair of events (an adjacent
condition) or on skipped events (a NOT), it is computed each time.

If no trend has two bindings, each binding is tracked separately, in subsets of one position: there
can be exponentially fewer of those. skip-till-next-match and `P & Q` consider all bindings of a
trend together, so they always need the subsets.

A machine belongs to a query and holds no state; `trends.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from runtime.execution.exact.lanes import Lanes, no_lanes
from runtime.execution.exact.matched_event import MatchedEvent, Row
from runtime.execution.exact.negation_progress import DEAD, Negations, Progress, passes
from runtime.execution.rationals import greatest, least, whole
from runtime.language import ast as s
from runtime.language.ambiguity import needs_subsets
from runtime.language.automaton import OPEN, SHUT, Guard, either
from runtime.language.query import Fold, Lane, Query
from runtime.language.row_eval import Function, compile_expression

#: The number of a lane, its fold, the place of its attribute, and the summand of a value.
Touch: TypeAlias = tuple[int, Fold, int | None, Callable[[Any], int]]


class Subset:
    """A set of positions with its properties that do not depend on events."""

    def __init__(self, machine: Machine, positions: tuple[int, ...]) -> None:
        automaton = machine.query.template.automaton
        follow = {p: automaton.follow[p] for p in positions}
        self.positions = positions
        self.steps: dict[int, tuple[SubsetStep, ...]] = {}
        self.sides = machine.sides_of(positions)
        self.goes_on = any(follow.values())
        self.ending = tuple(
            _union(automaton.last.get(p, SHUT) for p in positions if machine.side[p] == side)
            for side in range(machine.query.template.sides)
        )
        self.ends_at = next((i for i, p in enumerate(positions) if p in automaton.last), None)
        self.crossed = _negations(guard for after in follow.values() for guard in after.values())
        self.awaited = _negations(self.ending)
        self.kept = tuple(sorted({i for p in positions for i in machine.kept.get(p, ())}))
        paired = any((p, q) in machine.pairs for p, after in follow.items() for q in after)
        self.memoised = not paired and not self.crossed


class SubsetStep(NamedTuple):
    """The result of a step: a subset, and for each of its positions one predecessor."""

    target: Subset
    sources: tuple[int, ...]


class TrendState(NamedTuple):
    """The state that determines how partial trends can continue."""

    subset: Subset
    length: int
    kept: Row
    waits: tuple[Progress, ...]


class Machine:
    def __init__(self, query: Query, layout: Mapping[str, int], doubles: Set[str]) -> None:
        """`layout` has the place of each attribute in a row, `doubles` the attributes that are not
        integers."""
        self.query = query
        self.side = [p.side for p in query.template.positions]
        self.folds = tuple(lane.fold for lane in query.lanes)
        self.no_lanes = partial(no_lanes, query.lanes)
        self.deterministic = needs_subsets(query)
        self.positive_bits = sum(1 << p.index for p in query.template.positive)
        self.kept = _kept(query, layout)
        self.pairs = _pairs(query, layout)
        self.negations = Negations(query.template, self.pairs, self.kept)
        self.opening = _negations(query.template.automaton.first.values())
        # What can make a window worth keeping: a first event, or one that a leading NOT forbids.
        self.waking_bits = sum(1 << p for p in query.template.automaton.first)
        if self.opening:
            self.waking_bits |= self.negations.bits
        self._starts: dict[int, tuple[Subset, ...]] = {}
        self._matchers = _matchers(query, layout)
        self._touches = _touches(query, layout, doubles)
        self._subsets: dict[tuple[int, ...], Subset] = {}

    # ---- events ----------------------------------------------------------------------------

    def mask(self, type_: str, row: Row) -> int:
        """The positions, as bits, whose type and local conditions the event matches."""
        always, tested = self._matchers.get(type_, (0, ()))
        for bit, tests in tested:
            if all(test(row, row) for test in tests):
                always |= bit
        return always

    def touch(self, position: int, count: int, lanes: Lanes, row: Row) -> None:
        """Adds an event to the lanes of `count` trends that it extends at a position."""
        for j, fold, index, amount in self._touches[position]:
            value = row[index] if index is not None else 1
            if value is None:
                continue
            if fold is Fold.SUM:
                lanes[j] += count * amount(value)
            elif fold is Fold.MIN:
                lanes[j] = least(lanes[j], value)
            else:
                lanes[j] = greatest(lanes[j], value)

    # ---- steps -----------------------------------------------------------------------------

    def start(self, event: MatchedEvent, waits: tuple[Progress, ...]) -> tuple[Subset, ...]:
        """The states of a trend that begins with this event: one, or one for each binding."""
        if self.opening:
            return self._start(event, waits)
        if event.mask not in self._starts:
            self._starts[event.mask] = self._start(event, waits)
        return self._starts[event.mask]

    def _start(self, event: MatchedEvent, waits: tuple[Progress, ...]) -> tuple[Subset, ...]:
        alive = _alive(self.opening, waits)
        first = self.query.template.automaton.first.items()
        reached = [p for p, guard in first if event.mask >> p & 1 and passes(guard, alive)]
        return self._subsets_of(reached)

    def step(self, state: TrendState, event: MatchedEvent) -> tuple[SubsetStep, ...]:
        """The steps of trends in a state with this event, if it can extend them."""
        subset = state.subset
        if not subset.memoised:
            return self._step(state, event)
        mask = event.mask
        if mask not in subset.steps:
            subset.steps[mask] = self._step(state, event)
        return subset.steps[mask]

    def _step(self, state: TrendState, event: MatchedEvent) -> tuple[SubsetStep, ...]:
        subset = state.subset
        alive = _alive(subset.crossed, state.waits)
        earlier = dict(zip(subset.kept, state.kept, strict=True))
        sources: dict[int, int] = {}
        for i, p in enumerate(subset.positions):
            for q, guard in self.query.template.automaton.follow[p].items():
                if (
                    event.mask >> q & 1
                    and q not in sources
                    and passes(guard, alive)
                    and self._adjacent_conditions_hold(p, q, earlier, event.row)
                ):
                    sources[q] = i
        return tuple(
            SubsetStep(target, tuple(sources[q] for q in target.positions))
            for target in self._subsets_of(sources)
        )

    def _adjacent_conditions_hold(self, p: int, q: int, earlier: dict[int, Any], row: Row) -> bool:
        return all(test(earlier, row) for test in self.pairs.get((p, q), ()))

    def enter(self, subset: Subset, length: int, row: Row) -> TrendState:
        """The state of trends right after their last event, before any gap."""
        capped = min(length, self.query.least_length)
        waits = tuple(self.negations.fresh for _ in subset.crossed)
        return TrendState(subset, capped, tuple([row[i] for i in subset.kept]), waits)

    def without_sides(self, state: TrendState, gone: frozenset[int]) -> TrendState | None:
        """The same trends as partial trends of the other side of `P & Q` alone."""
        left = [p for p in state.subset.positions if self.side[p] not in gone]
        if not left:
            return None
        subset = self.subset(left)
        kept = dict(zip(state.subset.kept, state.kept, strict=True))
        waits = dict(zip(state.subset.crossed, state.waits, strict=True))
        return TrendState(
            subset,
            state.length,
            tuple(kept[i] for i in subset.kept),
            tuple(waits[n] for n in subset.crossed),
        )

    def _subsets_of(self, positions: Iterable[int]) -> tuple[Subset, ...]:
        reached = sorted(positions)
        if not self.deterministic:
            return tuple(self.subset([p]) for p in reached)
        return (self.subset(reached),) if reached else ()

    def subset(self, positions: Iterable[int]) -> Subset:
        key = tuple(sorted(positions))
        if key not in self._subsets:
            self._subsets[key] = Subset(self, key)
        return self._subsets[key]

    def sides_of(self, positions: Iterable[int]) -> frozenset[int]:
        return frozenset(self.side[p] for p in positions)


def _alive(numbers: tuple[int, ...], waits: tuple[Progress, ...]) -> frozenset[int]:
    return frozenset(n for n, wait in zip(numbers, waits, strict=True) if wait is not DEAD)


def _union(guards: Iterable[Guard]) -> Guard:
    total = SHUT
    for guard in guards:
        total = either(total, guard)
    return total


def _negations(guards: Iterable[Guard]) -> tuple[int, ...]:
    return tuple(sorted({n for guard in guards if guard != OPEN for some in guard for n in some}))


# ---- compiling the conditions and lanes of a query -----------------------------------------


def _matchers(
    query: Query, layout: Mapping[str, int]
) -> dict[str, tuple[int, tuple[tuple[int, tuple[Function, ...]], ...]]]:
    """For each type: the positions it always matches, and those with conditions to test."""

    def leaf(node: s.Expression) -> Function:
        assert isinstance(node, s.Attribute)
        index = layout[node.name]
        return lambda row, _: row[index]

    always: dict[str, int] = {}
    tested: dict[str, list[tuple[int, tuple[Function, ...]]]] = {}
    for position in query.template.positions:
        bit = 1 << position.index
        conditions = [c.expression for c in query.local if position.index in c.positions]
        tests = tuple(compile_expression(condition, leaf) for condition in conditions)
        always.setdefault(position.type, 0)
        if tests:
            tested.setdefault(position.type, []).append((bit, tests))
        else:
            always[position.type] |= bit
    return {type_: (bits, tuple(tested.get(type_, ()))) for type_, bits in always.items()}


def _pairs(query: Query, layout: Mapping[str, int]) -> dict[tuple[int, int], tuple[Function, ...]]:
    """The adjacent conditions of each step that has any; the earlier event is given as a
    mapping from places to the values that were kept of it."""

    def leaf(node: s.Expression) -> Function:
        assert isinstance(node, s.Attribute)
        index = layout[node.name]
        return (lambda _, row: row[index]) if node.next else (lambda kept, _: kept[index])

    pairs: dict[tuple[int, int], tuple[Function, ...]] = {}
    for condition in query.adjacent:
        test = compile_expression(condition.expression, leaf)
        for automaton in query.template.automata:
            for p, q in automaton.edges:
                if p in condition.before and q in condition.after:
                    pairs[p, q] = (*pairs.get((p, q), ()), test)
    return pairs


def _kept(query: Query, layout: Mapping[str, int]) -> dict[int, tuple[int, ...]]:
    """The values of an event in a position that later steps need."""
    kept: dict[int, set[int]] = {}
    for condition in query.adjacent:
        for p in condition.before:
            kept.setdefault(p, set()).update(layout[name] for name in condition.kept)
    return {p: tuple(sorted(indexes)) for p, indexes in kept.items()}


def _touches(query: Query, layout: Mapping[str, int], doubles: Set[str]) -> list[list[Touch]]:
    """For each position the lanes that an event there adds to."""

    def touch(j: int, lane: Lane) -> Touch:
        index = layout[lane.attribute] if lane.attribute is not None else None
        return j, lane.fold, index, _amount(lane.input.power, lane.attribute in doubles)

    return [
        [touch(j, lane) for j, lane in enumerate(query.lanes) if position.index in lane.positions]
        for position in query.template.positions
    ]


def _amount(power: int, double: bool) -> Callable[[Any], int]:
    """The summand of a value: an integer, in units of 2^-1074 to this power if it is a double."""
    if power == 0:
        return lambda value: 1
    if power == 1:
        return whole if double else lambda value: value
    return lambda value: (whole(value) if double else value) ** power
