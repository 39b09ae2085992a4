"""Turns a query into the tables of the general kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from runtime.execution.operators.general.predicate_compiler import (
    SYMBOLS,
    TEXT,
    WHOLE,
    Programs,
    kind_of,
)
from runtime.execution.operators.general.tables import (
    ANY,
    BEFORE,
    CONTIGUOUS,
    FIRST_GUARD,
    FOLLOW,
    GREATEST,
    GUARD,
    LAST_GUARD,
    LEAST,
    NEVER,
    NEXT,
    NONE,
    NOT_OF,
    NOTS_AFTER,
    NOTS_AHEAD,
    OPEN,
    PAIRED_WITH,
    PAIRS,
    PLACE,
    PROGRAM,
    ROW_OF,
    SIMPLE,
    SUM,
    GeneralTables,
    InputColumns,
    Ints,
)
from runtime.language import ast as s
from runtime.language import automaton
from runtime.language.ambiguity import needs_subsets
from runtime.language.query import Fold, Lane, Query, Semantics

_UNMET = -1
_SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}
_FOLDS = {Fold.SUM: SUM, Fold.MIN: LEAST, Fold.MAX: GREATEST}


def build_tables(
    query: Query, types: Mapping[str, pa.DataType], since: int | None
) -> tuple[GeneralTables, InputColumns]:
    """`types` are those of attributes; windows that start before `since` are not reported."""
    size = len(query.template.positions)
    guards = _Guards()
    at = np.zeros((size, 10), np.int64)
    steps = np.zeros((size, size, 3), np.int64)
    _fill_steps(query, at, steps, guards)
    pairs = _Pairs(query, types, at, steps)
    stored, listed = _place_negated(query, at, pairs.grained)
    subsets = needs_subsets(query)
    positive = [p.index for p in query.template.positive]
    by_binding = subsets and not _by_type(query)
    if by_binding:
        at[positive, ROW_OF] = np.arange(len(positive))
    tables = GeneralTables(
        semantics=_SEMANTICS[query.semantics],
        subsets=int(subsets),
        conjunctive=int(query.conjunctive),
        least=query.least_length,
        within=query.window.within,
        slide=query.window.slide,
        counted=int(query.window.counted),
        since=NEVER if since is None else since,
        **_position_sets(query),
        nots=len(query.template.negations),
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
    return tables, _input_columns(query, pairs.programs)


def _fill_steps(query: Query, at: Ints, steps: Ints, guards: _Guards) -> None:
    """The steps of the automata, their guards, and the NOTs that they name."""
    main = query.template.automaton
    at[:, (FIRST_GUARD, LAST_GUARD, NOT_OF, PLACE)] = NONE
    for one in query.template.automata:
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


def _place_negated(query: Query, at: Ints, grained: int) -> tuple[list[int], list[int]]:
    """Assigns places to positions under NOT. Returns the positions whose partial matches are
    stored, and those whose partial matches are listed one by one."""
    under_not = [p for p in query.template.positions if p.negation is not None]
    for position in under_not:
        assert position.negation is not None
        at[position.index, NOT_OF] = position.negation
    stored = [p.index for p in under_not if at[p.index, FOLLOW]]
    at[stored, PLACE] = np.arange(len(stored))
    return stored, [p for p in stored if at[p, NOTS_AHEAD] or grained >> p & 1]


def _position_sets(query: Query) -> dict[str, int]:
    """Sets of positions, as bits."""
    template = query.template
    first = template.automaton.first
    negated = _bits(p.index for p in template.positions if p.negation is not None)
    opening = any(_named(guard) for guard in first.values())
    return {
        "positive": _bits(p.index for p in template.positive),
        "negated": negated,
        "waking": _bits(first) | (negated if opening else 0),
        "first": _bits(first),
        "last": _bits(template.automaton.last),
        "one_side": _bits(p.index for p in template.positive if p.side == 0),
        "other_side": _bits(p.index for p in template.positive if p.side == 1),
        "not_first": _bits(p for one in template.negations for p in one.first),
        "not_last": _bits(p for one in template.negations for p in one.last),
    }


def _input_columns(query: Query, programs: Programs) -> InputColumns:
    return InputColumns(
        values=tuple((name, programs.kinds[name]) for name in programs.places),
        lanes=tuple((lane.input, _FOLDS[lane.fold]) for lane in query.lanes),
        texts=tuple(programs.texts),
    )


class _Guards:
    """Numbers the guards that require anything."""

    def __init__(self) -> None:
        self._numbers: dict[automaton.Guard, int] = {}

    def number(self, guard: automaton.Guard) -> int:
        if guard == automaton.OPEN:
            return OPEN
        return self._numbers.setdefault(guard, len(self._numbers))

    def table(self) -> Ints:
        """A row of alternatives for each guard, padded with one that cannot be met."""
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
    """Whether every lane aggregates all events of a type or none: then bindings agree on it."""
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
    """The int64 with the same 64 bits."""
    return word - (1 << 64) if word >= 1 << 63 else word
