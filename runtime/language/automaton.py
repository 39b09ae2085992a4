"""Compiles a pattern to its position automaton (Glushkov's construction, with guards for NOT).

A *position* is a leaf of the pattern. A trend is accepted along a path of positions: a first
one, then followers, then a last one. A NOT has no position of its own: it becomes a **guard** on
every step across it, and on a first or last position if it is at an end of the pattern.

A guard is an antichain of sets of NOTs: the step may be taken if all NOTs of *some* set hold in
the gap. `OPEN` has no condition, `SHUT` never holds. Guards form a semiring: `either`
adds (idempotent, unit SHUT), `both` multiplies (unit OPEN), and a superset is absorbed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from runtime.language import ast as s

Guard: TypeAlias = frozenset[frozenset[int]]
OPEN: Guard = frozenset([frozenset()])
SHUT: Guard = frozenset()


def either(one: Guard, other: Guard) -> Guard:
    return _minimal(one | other)


def both(one: Guard, other: Guard) -> Guard:
    return _minimal(frozenset(a | b for a in one for b in other))


def _minimal(guard: Guard) -> Guard:
    return frozenset(a for a in guard if not any(b < a for b in guard))


@dataclass(frozen=True)
class Position:
    """A leaf of the pattern. `side` is the side of `P & Q`; `negation` is the enclosing NOT,
    if any."""

    index: int
    type: str
    alias: str | None
    side: int
    negation: int | None
    span: s.Span


@dataclass(frozen=True)
class Automaton:
    """The first positions of a match, their followers, and the last ones. Immutable."""

    first: Mapping[int, Guard]
    follow: Mapping[int, Mapping[int, Guard]]
    last: Mapping[int, Guard]
    nullable: Guard

    @property
    def edges(self) -> list[tuple[int, int]]:
        return [(p, q) for p, after in self.follow.items() for q in after]


@dataclass(frozen=True)
class PatternTemplate:
    """A compiled pattern: its positions, its automaton, and an automaton for each NOT."""

    positions: tuple[Position, ...]
    automaton: Automaton
    negations: tuple[Automaton, ...]
    sides: int

    @property
    def positive(self) -> tuple[Position, ...]:
        return tuple(p for p in self.positions if p.negation is None)

    @property
    def automata(self) -> tuple[Automaton, ...]:
        return (self.automaton, *self.negations)


def compile_pattern(pattern: s.Pattern) -> PatternTemplate:
    compiler = _Compiler()
    sides = (pattern.left, pattern.right) if isinstance(pattern, s.Both) else (pattern,)
    whole = _nothing()
    for side, part in enumerate(sides):
        compiler.side = side
        whole = _union(whole, compiler.fragment(part))
    return PatternTemplate(
        tuple(compiler.positions),
        whole.freeze(compiler.follow),
        tuple(compiler.negations),
        len(sides),
    )


@dataclass
class _Fragment:
    """The first and last positions of a sub-pattern. Its inner steps are already recorded."""

    first: dict[int, Guard]
    last: dict[int, Guard]
    nullable: Guard

    def freeze(self, follow: Mapping[int, Mapping[int, Guard]]) -> Automaton:
        reached: dict[int, dict[int, Guard]] = {}
        todo = list(self.first)
        while todo:
            position = todo.pop()
            if position not in reached:
                reached[position] = dict(sorted(follow.get(position, {}).items()))
                todo += reached[position]
        ordered = dict(sorted(reached.items()))
        return Automaton(
            dict(sorted(self.first.items())),
            ordered,
            dict(sorted(self.last.items())),
            self.nullable,
        )


class _Compiler:
    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.negations: list[Automaton] = []
        self.follow: dict[int, dict[int, Guard]] = {}
        self.side = 0
        self._inside: int | None = None

    def fragment(self, pattern: s.Pattern) -> _Fragment:
        match pattern:
            case s.Event():
                return self._event(pattern)
            case s.Seq(parts):
                return self._sequence([self.fragment(part) for part in parts])
            case s.Either(parts):
                return self._either(parts)
            case s.Not(body):
                return self._negation(body)
            case s.Plus(body):
                return self._repeat(self.fragment(body))
            case s.Star(body):
                return _optional(self._repeat(self.fragment(body)))
            case s.Maybe(body):
                return _optional(self.fragment(body))
            case s.Both():
                raise AssertionError("the grammar allows `&` only at the top")

    def _event(self, event: s.Event) -> _Fragment:
        index = len(self.positions)
        self.positions.append(
            Position(index, event.type, event.alias, self.side, self._inside, event.span)
        )
        return _Fragment({index: OPEN}, {index: OPEN}, SHUT)

    def _sequence(self, parts: list[_Fragment]) -> _Fragment:
        whole = parts[0]
        for part in parts[1:]:
            self._link(whole.last, part.first)
            whole = _Fragment(
                _merge(whole.first, _guarded(part.first, whole.nullable)),
                _merge(part.last, _guarded(whole.last, part.nullable)),
                both(whole.nullable, part.nullable),
            )
        return whole

    def _either(self, parts: tuple[s.Pattern, ...]) -> _Fragment:
        whole = _nothing()
        for part in parts:
            whole = _union(whole, self.fragment(part))
        return whole

    def _repeat(self, body: _Fragment) -> _Fragment:
        self._link(body.last, body.first)
        return body

    def _negation(self, body: s.Pattern) -> _Fragment:
        outer, number = self._inside, len(self.negations)
        self.negations.append(
            _nothing().freeze({})
        )  # reserves the number while the body is compiled
        self._inside = number
        fragment = self.fragment(body)
        self._inside = outer
        self.negations[number] = fragment.freeze(self.follow)
        return _Fragment({}, {}, frozenset([frozenset([number])]))

    def _link(self, last: dict[int, Guard], first: dict[int, Guard]) -> None:
        for p, leaving in last.items():
            after = self.follow.setdefault(p, {})
            for q, entering in first.items():
                after[q] = either(after.get(q, SHUT), both(leaving, entering))


def _nothing() -> _Fragment:
    return _Fragment({}, {}, SHUT)


def _optional(fragment: _Fragment) -> _Fragment:
    return _Fragment(fragment.first, fragment.last, OPEN)


def _union(one: _Fragment, other: _Fragment) -> _Fragment:
    return _Fragment(
        _merge(one.first, other.first),
        _merge(one.last, other.last),
        either(one.nullable, other.nullable),
    )


def _merge(one: dict[int, Guard], other: dict[int, Guard]) -> dict[int, Guard]:
    return {p: either(one.get(p, SHUT), other.get(p, SHUT)) for p in {**one, **other}}


def _guarded(positions: dict[int, Guard], guard: Guard) -> dict[int, Guard]:
    passed = {p: both(own, guard) for p, own in positions.items()}
    return {p: own for p, own in passed.items() if own != SHUT}
