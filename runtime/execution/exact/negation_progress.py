"""Tracks the progress of negated patterns in gaps.

Only the existence of a complete match in the gap matters, so nothing is counted: a gap has a set of
*threads*, the positions that matches begun in the gap have reached, until one match is complete and
the gap is DEAD. Under skip-till-any-match a thread stays when events pass, so the set only grows. A
thread keeps the values of its last event that an adjacent condition needs, and the progress of a
NOT inside the NOT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from runtime.language.automaton import Automaton, Guard, PatternTemplate
from runtime.language.row_eval import Function

if TYPE_CHECKING:
    from runtime.execution.exact.matched_event import MatchedEvent


class Thread(NamedTuple):
    position: int
    kept: tuple[Any, ...]
    waits: tuple[Progress, ...]


Progress: TypeAlias = "frozenset[Thread] | None"
DEAD: Progress = None


def passes(guard: Guard, alive: frozenset[int]) -> bool:
    """Whether some alternative of the guard has no violated NOT."""
    return any(alternative <= alive for alternative in guard)


class Negations:
    """The NOTs of one query. `fresh` is the progress in a new gap."""

    fresh: Progress = frozenset()

    def __init__(
        self,
        template: PatternTemplate,
        pairs: Mapping[tuple[int, int], tuple[Function, ...]],
        kept: Mapping[int, tuple[int, ...]],
    ) -> None:
        self._automata = template.negations
        self._pairs = pairs
        self._kept = kept
        self._inner = [_inner(automaton) for automaton in template.negations]
        self._bits = [self._all_bits(n) for n in range(len(template.negations))]
        self.bits = sum(1 << p.index for p in template.positions if p.negation is not None)

    def advance(self, number: int, progress: Progress, group: list[MatchedEvent]) -> Progress:
        """The progress after events of one time have been skipped."""
        if progress is None or not any(event.mask & self._bits[number] for event in group):
            return progress
        automaton = self._automata[number]
        grown = {self._wait(number, thread, group) for thread in progress}
        for event in group:
            for thread in self._moves(number, progress, event):
                if thread.position in automaton.last:
                    return DEAD
                grown.add(thread)
        return frozenset(grown)

    def _moves(self, number: int, progress: frozenset[Thread], event: MatchedEvent) -> list[Thread]:
        automaton = self._automata[number]
        reached = [p for p in automaton.first if event.mask >> p & 1]
        for thread in progress:
            alive = self._alive(number, thread)
            for q, guard in automaton.follow[thread.position].items():
                if (
                    event.mask >> q & 1
                    and passes(guard, alive)
                    and self._adjacent_conditions_hold(thread, q, event)
                ):
                    reached.append(q)
        fresh = tuple(self.fresh for _ in self._inner[number])
        return [
            Thread(q, tuple(event.row[i] for i in self._kept.get(q, ())), fresh) for q in reached
        ]

    def _wait(self, number: int, thread: Thread, group: list[MatchedEvent]) -> Thread:
        """A thread stays, but the NOTs inside this one see the events that pass."""
        inner = self._inner[number]
        if not inner:
            return thread
        waits = tuple(
            self.advance(n, wait, group) for n, wait in zip(inner, thread.waits, strict=True)
        )
        return thread._replace(waits=waits)

    def _alive(self, number: int, thread: Thread) -> frozenset[int]:
        pairs = zip(self._inner[number], thread.waits, strict=True)
        return frozenset(n for n, wait in pairs if wait is not DEAD)

    def _adjacent_conditions_hold(self, thread: Thread, q: int, event: MatchedEvent) -> bool:
        tests = self._pairs.get((thread.position, q))
        if tests is None:
            return True
        earlier = dict(zip(self._kept.get(thread.position, ()), thread.kept, strict=True))
        return all(test(earlier, event.row) for test in tests)

    def _all_bits(self, number: int) -> int:
        own = sum(1 << p for p in self._automata[number].follow)
        return own | sum(self._all_bits(n) for n in self._inner[number])


def _inner(automaton: Automaton) -> tuple[int, ...]:
    """The NOTs directly inside this one."""
    guards = [guard for after in automaton.follow.values() for guard in after.values()]
    return tuple(sorted({n for guard in guards for alternative in guard for n in alternative}))
