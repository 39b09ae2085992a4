"""Decides whether a trend can be bound to the positions of a pattern in more than one way.

It walks the automaton with itself: a pair of positions is reached if one sequence of events can
lead to both. Two positions can hold the same event if they have the same type and their local
conditions do not exclude each other. Adjacent conditions and NOTs are ignored, so the
answer is conservative: it may report an ambiguity that cannot occur.

Sets of positions are the bits of a whole number: of 64 positions there are 4,096 pairs with 4,096
steps each, and only those that reach a new pair should cost anything.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from runtime.language import ast as s
from runtime.language.automaton import PatternTemplate
from runtime.language.query import LocalCondition, Query, Semantics
from runtime.language.row_eval import Function, compile_expression

Pair = tuple[int, int]


class Bindings:
    def __init__(self, template: PatternTemplate, local: tuple[LocalCondition, ...]) -> None:
        self._template = template
        self._local = local
        self._satisfied: dict[tuple[int, ...], bool] = {}

    def difference(self, positions: frozenset[int]) -> str | None:
        """How two bindings of one trend can differ in the events at `positions`."""
        trail = self._search(lambda p, q: (p in positions) != (q in positions))
        if trail is None:
            return None
        types = " ".join(self._template.positions[p].type for p, _ in trail)
        one = ", ".join(self._label(p) for p, _ in trail)
        other = ", ".join(self._label(q) for _, q in trail)
        return f"a trend of {types} can be bound as ({one}) and as ({other})"

    @cached_property
    def ambiguous(self) -> str | None:
        """An example of a trend with two bindings, if one exists."""
        trail = self._search(lambda p, q: p != q)
        if trail is None:
            return None
        return " ".join(self._template.positions[p].type for p, _ in trail)

    def _label(self, index: int) -> str:
        """The alias of a position, or its type, numbered if several positions have that type."""
        position = self._template.positions[index]
        same = [p.index for p in self._template.positive if p.type == position.type]
        number = f"#{same.index(index) + 1}" if len(same) > 1 else ""
        return position.alias or position.type + number

    def _search(self, differ: Callable[[int, int], bool]) -> list[Pair] | None:
        """The shortest pair of accepting paths over the same events that differ somewhere."""
        automaton = self._template.automaton
        differing = [_mask(q for q in automaton.follow if differ(p, q)) for p in self._indices]
        walk = _Walk()

        def arrive(p: int, others: int, differed: bool, source: _State | None) -> None:
            others &= self._alike[p]
            if not differed:
                walk.visit(p, others & ~differing[p], False, False, source)
                others &= differing[p]
            walk.visit(p, others, True, False, source)

        for p in automaton.first:
            arrive(p, _mask(automaton.first), False, None)
        follow = {p: _mask(after) for p, after in automaton.follow.items()}
        for state in walk.todo:  # grows while it is read: breadth first
            mover, waiting, differed, halfway = state
            if halfway:
                arrive(waiting, follow[mover], differed, state)
            elif differed and mover in automaton.last and waiting in automaton.last:
                return walk.trail(state)
            else:
                walk.visit(waiting, follow[mover], differed, True, state)
        return None

    @property
    def _indices(self) -> range:
        return range(len(self._template.positions))

    @cached_property
    def _alike(self) -> list[int]:
        """For each position, the positions that can hold the same event."""
        alike = [1 << p for p in self._indices]
        for p in self._indices:
            for q in range(p):
                if self._can_hold_the_same(p, q):
                    alike[p] |= 1 << q
                    alike[q] |= 1 << p
        return alike

    def _can_hold_the_same(self, p: int, q: int) -> bool:
        one, other = self._template.positions[p], self._template.positions[q]
        same = one.type == other.type and one.side == other.side
        return same and one.negation is other.negation is None and self._satisfiable((p, q))

    def _satisfiable(self, pair: Pair) -> bool:
        """Whether an event can meet the conditions on both positions."""
        # Many pairs have the same conditions, and a condition may be long.
        key = tuple(i for i, c in enumerate(self._local) if c.positions & set(pair))
        if key not in self._satisfied:
            tests = [test for i in key if (test := self._tests[i]) is not None]
            self._satisfied[key] = _can_all_hold(tests)
        return self._satisfied[key]

    @cached_property
    def _tests(self) -> list[_Test | None]:
        return [_test(condition.expression) for condition in self._local]


@dataclass(frozen=True)
class _Test:
    """A condition that compares one attribute with constants, as a function of its value."""

    attribute: str
    holds: Function
    constants: frozenset[s.Value]


def _test(condition: s.Expression) -> _Test | None:
    nodes = s.walk(condition)
    names = {node.name for node in nodes if isinstance(node, s.Attribute)}
    if len(names) != 1 or any(isinstance(node, s.Arithmetic | s.Negative) for node in nodes):
        return None
    holds = compile_expression(condition, lambda leaf: lambda a, b: a)
    constants = frozenset(node.value for node in nodes if isinstance(node, s.Literal))
    return _Test(names.pop(), holds, constants)


def _can_all_hold(tests: list[_Test]) -> bool:
    """False only if the conditions on some attribute certainly exclude each other."""
    by_attribute: dict[str, list[_Test]] = {}
    for test in tests:
        by_attribute.setdefault(test.attribute, []).append(test)
    return all(_some_value_meets(alike) for alike in by_attribute.values())


def _some_value_meets(tests: list[_Test]) -> bool:
    """Comparisons with constants change their truth only at a constant: it is enough to try the
    constants, a value between each two, one on either side, and null."""
    for value in _candidates(frozenset().union(*(test.constants for test in tests))):
        try:
            if all(test.holds(value, value) for test in tests):
                return True
        except TypeError:  # text against number: other checks report it
            return True
    return False


def _candidates(constants: Iterable[s.Value]) -> list[s.Value | Fraction]:
    known = list(constants)
    numbers = sorted(c for c in known if isinstance(c, int | float) and not isinstance(c, bool))
    texts = sorted(c for c in known if isinstance(c, str))
    found: list[s.Value | Fraction] = [None]
    if not numbers and not texts:
        found += [True, False]
    if numbers:
        found += [*numbers, *_around(numbers)]
    if texts:
        found += ["", *texts, *(text + "\0" for text in texts)]
    return found


def _around(numbers: list[int | float]) -> list[Fraction]:
    """Values between the numbers and on either side, as rationals: doubles may have none."""
    infinite = (math.inf, -math.inf)
    exact = [Fraction(number) for number in numbers if number not in infinite] or [Fraction(0)]
    return [exact[0] - 1, *((a + b) / 2 for a, b in pairwise(exact)), exact[-1] + 1]


# ---- walking two paths at once -------------------------------------------------------------

# The path that moves next, the one that waits, whether the paths differ, whether only one moved.
_State = tuple[int, int, bool, bool]


class _Walk:
    """The states visited so far, in order, each with its predecessor."""

    def __init__(self) -> None:
        self.todo: list[_State] = []
        self._predecessor: dict[_State, _State | None] = {}
        self._seen: defaultdict[tuple[int, bool, bool], int] = defaultdict(int)

    def visit(
        self, mover: int, others: int, differed: bool, halfway: bool, source: _State | None
    ) -> None:
        fresh = others & ~self._seen[mover, differed, halfway]
        self._seen[mover, differed, halfway] |= fresh
        for waiting in _bits(fresh):
            state = (mover, waiting, differed, halfway)
            self._predecessor[state] = source
            self.todo.append(state)

    def trail(self, state: _State | None) -> list[Pair]:
        pairs: list[Pair] = []
        while state is not None:
            mover, waiting, _, halfway = state
            if not halfway:
                pairs.append((mover, waiting))
            state = self._predecessor[state]
        return pairs[::-1]


def _mask(positions: Iterable[int]) -> int:
    return sum(1 << p for p in set(positions))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def needs_subsets(query: Query) -> bool:
    together = query.semantics is Semantics.NEXT or query.conjunctive
    return together or Bindings(query.template, query.local).ambiguous is not None
