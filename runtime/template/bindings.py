"""Can one trend be bound to a pattern's positions in two ways?

Walks the automaton with itself: a pair of positions is reached if one sequence of events can
lead to both. Two positions can hold the same event if they have the same type and their local
conditions do not exclude each other. Adjacent conditions and NOTs are not looked at, so the
answer may be too careful, never too bold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import pairwise

from runtime.language import syntax as s
from runtime.language.evaluate import compile_expression
from runtime.language.query import LocalCondition
from runtime.template.automaton import Template

Pair = tuple[int, int]


class Bindings:
    def __init__(self, template: Template, local: tuple[LocalCondition, ...]) -> None:
        self._template = template
        self._local = local
        self._compatible: dict[Pair, bool] = {}

    def difference(self, positions: frozenset[int]) -> str | None:
        """How two bindings of one trend can differ on which events sit in `positions`."""
        trail = self._search(lambda p, q: (p in positions) != (q in positions))
        if trail is None:
            return None
        types = " ".join(self._template.positions[p].type for p, _ in trail)
        one = ", ".join(self._spoken(p) for p, _ in trail)
        other = ", ".join(self._spoken(q) for _, q in trail)
        return f"a trend of {types} can be bound as ({one}) and as ({other})"

    @cached_property
    def ambiguous(self) -> str | None:
        """An example of a trend with two bindings, if there can be one."""
        trail = self._search(lambda p, q: p != q)
        if trail is None:
            return None
        return " ".join(self._template.positions[p].type for p, _ in trail)

    def _spoken(self, index: int) -> str:
        position = self._template.positions[index]
        return position.alias or f"{position.type}#{index + 1}"

    def _search(self, differ: Callable[[int, int], bool]) -> list[Pair] | None:
        """The shortest pair of accepting paths over the same events that differ somewhere."""
        automaton = self._template.automaton
        starts = [(p, q, False) for p in automaton.first for q in automaton.first]
        came_from: dict[tuple[int, int, bool], tuple[int, int, bool] | None] = {}
        todo: list[tuple[int, int, bool]] = []

        def visit(p: int, q: int, differed: bool, source: tuple[int, int, bool] | None) -> None:
            # The pair is symmetric as long as the trail is read back in the same order.
            state = (p, q, differed or differ(p, q))
            if state not in came_from and self._can_hold_the_same(p, q):
                came_from[state] = source
                todo.append(state)

        for p, q, _ in starts:
            visit(p, q, False, None)
        for state in todo:  # grows while it is read: breadth first
            p, q, differed = state
            if differed and p in automaton.last and q in automaton.last:
                return _trail(came_from, state)
            for after_p in automaton.follow[p]:
                for after_q in automaton.follow[q]:
                    visit(after_p, after_q, differed, state)
        return None

    def _can_hold_the_same(self, p: int, q: int) -> bool:
        if p == q:
            return True
        pair = (min(p, q), max(p, q))
        if pair not in self._compatible:
            one, other = (self._template.positions[i] for i in pair)
            same = one.type == other.type and one.side == other.side
            self._compatible[pair] = same and self._satisfiable(pair)
        return self._compatible[pair]

    def _satisfiable(self, pair: Pair) -> bool:
        """False only if the conditions on some one attribute exclude each other for certain."""
        terms = [c.expression for c in self._local if c.positions & set(pair)]
        by_attribute: dict[str, list[s.Expression]] = {}
        for term in terms:
            nodes = s.walk(term)
            names = {node.name for node in nodes if isinstance(node, s.Attribute)}
            computed = any(isinstance(node, s.Arithmetic | s.Negative) for node in nodes)
            if len(names) == 1 and not computed:
                by_attribute.setdefault(names.pop(), []).append(term)
        return all(_some_value_meets(terms) for terms in by_attribute.values())


def _some_value_meets(terms: list[s.Expression]) -> bool:
    """Comparisons with constants change their truth only at a constant: it is enough to try the
    constants, a value between each two, one on either side, and null."""
    tests = [compile_expression(term, lambda leaf: lambda a, b: a) for term in terms]
    constants = {n.value for term in terms for n in s.walk(term) if isinstance(n, s.Literal)}
    for value in _candidates(constants):
        try:
            if all(test(value, value) for test in tests):
                return True
        except TypeError:  # text against number: other checks report it
            return True
    return False


def _candidates(constants: Iterable[s.Value]) -> list[s.Value]:
    known = set(constants)
    numbers = sorted(c for c in known if isinstance(c, int | float) and not isinstance(c, bool))
    texts = sorted(c for c in known if isinstance(c, str))
    found: list[s.Value] = [None, True, False] if not numbers and not texts else [None]
    if numbers:
        between = [a + (b - a) / 2 for a, b in pairwise(numbers)]
        found += [*numbers, *between, numbers[0] - 1, numbers[-1] + 1]
    if texts:
        found += ["", *texts, *(text + "\0" for text in texts)]
    return found


def _trail(
    came_from: dict[tuple[int, int, bool], tuple[int, int, bool] | None],
    state: tuple[int, int, bool],
) -> list[Pair]:
    trail: list[Pair] = []
    at: tuple[int, int, bool] | None = state
    while at is not None:
        trail.append((at[0], at[1]))
        at = came_from[at]
    return trail[::-1]
