"""A query as tables of numbers for the kernel. Immutable; `pools.py` has the run state.

A position is a bit: `follow[p]` are the positions that may come after p, and so on. A guard is a
number (OPEN: none), with a row of alternatives, each the bits of the NOTs that must hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.operators.general.predicate_compiler import (
    SYMBOLS,
    TEXT,
    WHOLE,
    Programs,
    kind_of,
)
from runtime.language import ast as s
from runtime.language import automaton
from runtime.language.aggregates import LaneInput
from runtime.language.ambiguity import needs_subsets
from runtime.language.query import Fold, Lane, Query, Semantics

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

ANY, NEXT, CONTIGUOUS = range(3)
SUM, LEAST, GREATEST = range(3)
NONE = OPEN = -1
_UNMET = -1
SIMPLE, PROGRAM = range(2)
NEVER = -(2**63)

_SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}
_FOLDS = {Fold.SUM: SUM, Fold.MIN: LEAST, Fold.MAX: GREATEST}


# Columns of `at`, by position.
(
    FOLLOW,
    BEFORE,
    FIRST_GUARD,
    LAST_GUARD,
    NOTS_AHEAD,
    NOTS_AFTER,
    NOT_OF,
    PLACE,
    PAIRED_WITH,
    ROW_OF,
) = range(10)
# Columns of `steps`, by two positions.
GUARD, PAIRS, PAIRS_END = range(3)
# Columns of `lane`.
FOLD, TOUCH, AS_TEXT = range(3)


class Plan(NamedTuple):
    """`subsets`: whether bindings are followed together, or each by itself. `waking`: what can make
    a window worth keeping, a first event or one that a leading NOT forbids. `listed`: positions
    under NOT whose partial matches cannot be told by their start alone. `grained`: positions
    that need values of their event when it is gone. `kept`: how many values that are.
    `awaiting`: whether a trend can end with a NOT."""

    semantics: int
    subsets: int
    conjunctive: int
    least: int
    within: int
    slide: int
    counted: int
    since: int
    positive: int
    negated: int
    waking: int
    first: int
    last: int
    one_side: int
    other_side: int
    nots: int
    not_first: int
    not_last: int
    listed: int
    places: int
    grained: int
    registers: int
    kept: int
    lanes: int
    rows: int
    awaiting: int
    at: Ints
    steps: Ints
    guards: Ints
    conditions: Ints
    code: Ints
    lane: Ints


class Columns(NamedTuple):
    """What the kernel needs of the events, by name."""

    values: tuple[tuple[str, int], ...]
    lanes: tuple[tuple[LaneInput, int], ...]
    texts: tuple[tuple[int, str], ...]


def make_plan(
    query: Query, types: Mapping[str, pa.DataType], since: int | None
) -> tuple[Plan, Columns]:
    template = query.template
    size = len(template.positions)
    main = template.automaton
    negative = _bits(p.index for p in template.positions if p.negation is not None)
    guards = _Guards()
    at = np.zeros((size, 10), np.int64)
    at[:, (FIRST_GUARD, LAST_GUARD, NOT_OF, PLACE)] = NONE
    steps = np.zeros((size, size, 3), np.int64)
    for one in template.automata:
        for p, after in one.follow.items():
            at[p, FOLLOW] = _bits(after)
            for q, guard in after.items():
                at[q, BEFORE] |= _signed(1 << p)
                at[p, NOTS_AHEAD] |= _named(guard)
                steps[p, q, GUARD] = guards.number(guard)
    for p, guard in main.first.items():
        at[p, FIRST_GUARD] = guards.number(guard)
    for p, guard in main.last.items():
        at[p, LAST_GUARD] = guards.number(guard)
        at[p, NOTS_AFTER] = _named(guard)
    pairs = _Pairs(query, types, at, steps)
    under_not = [p for p in template.positions if p.negation is not None]
    for position in under_not:
        assert position.negation is not None
        at[position.index, NOT_OF] = position.negation
    stored = [p.index for p in under_not if at[p.index, FOLLOW]]
    at[stored, PLACE] = np.arange(len(stored))
    listed = [p for p in stored if at[p, NOTS_AHEAD] or pairs.grained >> p & 1]
    opening = any(_named(guard) for guard in main.first.values())
    subsets = needs_subsets(query)
    by_binding = subsets and not _by_type(query)
    positive = [p.index for p in template.positive]
    if by_binding:
        at[positive, ROW_OF] = np.arange(len(positive))
    plan = Plan(
        semantics=_SEMANTICS[query.semantics],
        subsets=int(subsets),
        conjunctive=int(query.conjunctive),
        least=query.least_length,
        within=query.window.within,
        slide=query.window.slide,
        counted=int(query.window.counted),
        since=NEVER if since is None else since,
        positive=_bits(positive),
        negated=negative,
        waking=_bits(main.first) | (negative if opening else 0),
        first=_bits(main.first),
        last=_bits(main.last),
        one_side=_bits(p.index for p in template.positive if p.side == 0),
        other_side=_bits(p.index for p in template.positive if p.side == 1),
        nots=len(template.negations),
        not_first=_bits(p for one in template.negations for p in one.first),
        not_last=_bits(p for one in template.negations for p in one.last),
        listed=_bits(listed),
        places=len(stored),
        grained=_signed(pairs.grained),
        registers=pairs.programs.registers,
        kept=pairs.kept,
        lanes=len(query.lanes),
        rows=len(positive) if by_binding else 1,
        awaiting=int(at[:, NOTS_AFTER].any()),
        at=at,
        steps=steps,
        guards=guards.table(),
        conditions=np.array(pairs.conditions, np.int64).reshape(-1, 6),
        code=pairs.programs.table(),
        lane=np.array([_lane(lane, types) for lane in query.lanes], np.int64).reshape(-1, 3),
    )
    columns = Columns(
        values=tuple((name, pairs.programs.kinds[name]) for name in pairs.programs.places),
        lanes=tuple((lane.input, _FOLDS[lane.fold]) for lane in query.lanes),
        texts=tuple(pairs.programs.texts),
    )
    return plan, columns


class _Guards:
    """Numbers the guards that ask for anything."""

    def __init__(self) -> None:
        self._numbers: dict[automaton.Guard, int] = {}

    def number(self, guard: automaton.Guard) -> int:
        if guard == automaton.OPEN:
            return OPEN
        return self._numbers.setdefault(guard, len(self._numbers))

    def table(self) -> Ints:
        """A row of alternatives for each guard, filled up with one that cannot be met."""
        most = max((len(guard) for guard in self._numbers), default=1)
        table = np.full((len(self._numbers), most), _UNMET, np.int64)
        for guard, number in self._numbers.items():
            table[number, : len(guard)] = sorted(_bits(nots) for nots in guard)
        return table


class _Pairs:
    """The adjacent conditions of each step that has any."""

    def __init__(
        self, query: Query, types: Mapping[str, pa.DataType], at: Ints, steps: Ints
    ) -> None:
        kept = sorted({name for condition in query.adjacent for name in condition.kept})
        read = {a.name for c in query.adjacent for a in _attributes(c.expression) if a.next}
        names = [*kept, *sorted(read - set(kept))]
        self.kept = len(kept)
        self.programs = Programs(
            {name: place for place, name in enumerate(names)},
            {name: kind_of(types[name]) for name in names},
        )
        self.grained = 0
        self.conditions: list[tuple[int, ...]] = []
        rows = [self._row(condition.expression) for condition in query.adjacent]
        for one in query.template.automata:
            for p, q in one.edges:
                start = len(self.conditions)
                for condition, row in zip(query.adjacent, rows, strict=True):
                    if p in condition.before and q in condition.after:
                        self.conditions.append(row)
                if len(self.conditions) > start:
                    steps[p, q, PAIRS:] = start, len(self.conditions)
                    at[p, PAIRED_WITH] |= _signed(1 << q)
                    self.grained |= 1 << p

    def _row(self, expression: s.Expression) -> tuple[int, ...]:
        match expression:
            case s.Compare(symbol, s.Attribute(next=False) as one, s.Attribute(next=True) as other):
                return self._simple(symbol, one, other)
        start, stop = self.programs.add(expression)
        return (PROGRAM, start, stop, 0, 0, 0)

    def _simple(self, symbol: str, kept: s.Attribute, later: s.Attribute) -> tuple[int, ...]:
        places, kinds = self.programs.places, self.programs.kinds
        names = kept.name, later.name
        return (
            SIMPLE,
            SYMBOLS.index(symbol),
            *(places[name] for name in names),
            *(kinds[name] for name in names),
        )


def _attributes(expression: s.Expression) -> list[s.Attribute]:
    return [node for node in s.walk(expression) if isinstance(node, s.Attribute)]


def _lane(lane: Lane, types: Mapping[str, pa.DataType]) -> tuple[int, int, int]:
    kind = kind_of(types[lane.attribute]) if lane.attribute is not None else WHOLE
    return _FOLDS[lane.fold], _bits(lane.positions), int(kind == TEXT)


def _by_type(query: Query) -> bool:
    """Whether every lane takes all events of a type or none: then bindings agree on it."""
    for lane in query.lanes:
        taken = {query.template.positions[p].type for p in lane.positions}
        if any(p.type in taken and p.index not in lane.positions for p in query.template.positive):
            return False
    return True


def _named(guard: automaton.Guard) -> int:
    return _bits({n for alternative in guard for n in alternative})


def _bits(numbers: Iterable[int]) -> int:
    return _signed(sum(1 << number for number in set(numbers)))


def _signed(word: int) -> int:
    """64 bits as the int64 that has them."""
    return word - (1 << 64) if word >= 1 << 63 else word
