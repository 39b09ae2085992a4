"""The trends of one query in one partition and one window: the state of the exact engine.

Events come in groups of equal time. The trends that a group creates are computed from the state
before it, so events of one time are never adjacent; then the semantics decides which ones stay:

- skip-till-any-match: partial trends stay, extended or not;
- skip-till-next-match: partial trends that any event of the group can extend are removed;
- contiguous: only trends that end in the group itself are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from runtime.execution.exact.lanes import Lanes, LaneTotals
from runtime.execution.exact.machine import Machine, Subset, SubsetStep, TrendState
from runtime.execution.exact.matched_event import MatchedEvent
from runtime.execution.exact.negation_progress import DEAD, Progress, passes
from runtime.language.automaton import Guard
from runtime.language.query import Semantics

Partial: TypeAlias = dict[TrendState, LaneTotals]


class Verdict(NamedTuple):
    """The guard under which finished trends count, for each side of the pattern. A guard that is
    not OPEN is a last NOT, which is decided only when the window closes."""

    ending: tuple[Guard, ...]
    awaited: tuple[int, ...]
    waits: tuple[Progress, ...]


Key = TypeVar("Key", TrendState, Verdict)


@dataclass(frozen=True)
class Totals:
    """The result of a window in one partition: trends, or pairs of them for `P & Q`."""

    count: int
    lanes: Lanes


class Trends:
    __slots__ = ("finished", "machine", "opening", "partial")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.partial: Partial = {}
        self.finished: dict[Verdict, LaneTotals] = {}
        self.opening = tuple(machine.negations.fresh for _ in machine.opening)

    def step(self, group: list[MatchedEvent]) -> None:
        """Processes all events of one time."""
        machine = self.machine
        entered: Partial = {}
        taken: dict[TrendState, frozenset[int]] = {}
        for event in group:
            if event.mask & machine.positive_bits:
                self._extend(event, entered, taken)
                self._start(event, entered)
        self._leave(taken)
        if machine.negations.bits:
            self._skip(group)
        self._enter(entered)

    # ---- what a group creates --------------------------------------------------------------

    def _start(self, event: MatchedEvent, entered: Partial) -> None:
        for subset in self.machine.start(event, self.opening):
            lanes = []
            if self.machine.folds:
                for position in subset.positions:
                    own = self.machine.no_lanes()
                    self.machine.touch(position, 1, own, event.row)
                    lanes.append(own)
            self._add(entered, self.machine.enter(subset, 1, event.row), LaneTotals(1, lanes))

    def _extend(
        self, event: MatchedEvent, entered: Partial, taken: dict[TrendState, frozenset[int]]
    ) -> None:
        machine = self.machine
        for state, bundle in self.partial.items():
            for step in machine.step(state, event):
                taken[state] = taken.get(state, frozenset()) | step.target.sides
                grown = machine.enter(step.target, state.length + 1, event.row)
                self._add(entered, grown, self._extended(bundle, step, event))

    def _extended(self, bundle: LaneTotals, step: SubsetStep, event: MatchedEvent) -> LaneTotals:
        lanes = []
        if self.machine.folds:
            for position, source in zip(step.target.positions, step.sources, strict=True):
                own = list(bundle.lanes[source])
                self.machine.touch(position, bundle.count, own, event.row)
                lanes.append(own)
        return LaneTotals(bundle.count, lanes)

    # ---- what stays ------------------------------------------------------------------------

    def _leave(self, taken: dict[TrendState, frozenset[int]]) -> None:
        semantics = self.machine.query.semantics
        if semantics is Semantics.CONTIGUOUS:
            self.partial = {}
        elif semantics is Semantics.NEXT:
            for state, sides in taken.items():
                bundle = self.partial.pop(state)
                rest = self.machine.without_sides(state, sides)
                if rest is not None and rest.subset.goes_on:
                    self._add(self.partial, rest, bundle)

    def _skip(self, group: list[MatchedEvent]) -> None:
        """Advances every gap that was open before this group by its events."""
        advance = self.machine.negations.advance
        if any(event.mask & self.machine.negations.bits for event in group):
            self.opening = tuple(
                advance(n, wait, group)
                for n, wait in zip(self.machine.opening, self.opening, strict=True)
            )
            self.partial = self._skip_partial(group)
            self.finished = self._skip_finished(group)

    def _skip_partial(self, group: list[MatchedEvent]) -> Partial:
        moved: Partial = {}
        for state, bundle in self.partial.items():
            pairs = zip(state.subset.crossed, state.waits, strict=True)
            waits = tuple(self.machine.negations.advance(n, wait, group) for n, wait in pairs)
            self._add(moved, state._replace(waits=waits), bundle)
        return moved

    def _skip_finished(self, group: list[MatchedEvent]) -> dict[Verdict, LaneTotals]:
        moved: dict[Verdict, LaneTotals] = {}
        for verdict, bundle in self.finished.items():
            pairs = zip(verdict.awaited, verdict.waits, strict=True)
            waits = tuple(self.machine.negations.advance(n, wait, group) for n, wait in pairs)
            self._add(moved, verdict._replace(waits=waits), bundle)
        return moved

    def _enter(self, entered: Partial) -> None:
        for state, bundle in entered.items():
            subset = state.subset
            if state.length >= self.machine.query.least_length:
                self._finish(subset, bundle)
            if subset.goes_on:
                self._add(self.partial, state, bundle)

    def _finish(self, subset: Subset, bundle: LaneTotals) -> None:
        if subset.ends_at is None:
            return
        ending, awaited = subset.ending, subset.awaited
        waits = tuple(self.machine.negations.fresh for _ in awaited)
        lanes = [list(bundle.lanes[subset.ends_at])] if self.machine.folds else []
        self._add(self.finished, Verdict(ending, awaited, waits), LaneTotals(bundle.count, lanes))

    def _add(self, into: dict[Key, LaneTotals], key: Key, bundle: LaneTotals) -> None:
        known = into.get(key)
        if known is None:
            into[key] = bundle
        else:
            known.add(self.machine.folds, bundle)

    # ---- the outcome -----------------------------------------------------------------------

    def close(self) -> Totals | None:
        """The result of the window; None if no trend was finished."""
        accepted: dict[tuple[bool, ...], LaneTotals] = {}
        for verdict, bundle in self.finished.items():
            pairs = zip(verdict.awaited, verdict.waits, strict=True)
            alive = frozenset(n for n, wait in pairs if wait is not DEAD)
            sides = tuple(passes(guard, alive) for guard in verdict.ending)
            if any(sides):
                known = accepted.setdefault(sides, LaneTotals(0, [self.machine.no_lanes()]))
                known.add(self.machine.folds, bundle)
        if self.machine.query.conjunctive:
            count = _pairs(accepted)
            return Totals(count, []) if count else None
        if not accepted:
            return None
        (total,) = accepted.values()
        return Totals(total.count, total.lanes[0])


def _pairs(accepted: dict[tuple[bool, ...], LaneTotals]) -> int:
    """The number of unordered pairs of different trends, one of each side (the HAMLET
    paper, section 5)."""

    def count(*sides: bool) -> int:
        bundle = accepted.get(sides)
        return bundle.count if bundle is not None else 0

    one, other, shared = count(True, False), count(False, True), count(True, True)
    return one * other + (one + other) * shared + shared * (shared - 1) // 2
