"""Explores every order in which the operations of two runs, crashes and lost files can happen.

A run that is paused is one whose next operation comes late, so all pauses are among the orders.

Orders that only differ in operations that do not depend on each other lead to the same states. So
if the next operation of a run depends on nothing that the other one may do before it, alone and to
its end, only this operation is tried (a persistent set). A run crashes just after it has changed
something, and a file is lost just before somebody would see it: at other times, nobody could tell.

When both runs have ended, a third one must finish the job, alone. Runs may have different outputs:
then the third one does as a user does whom it tells to go on with the output of an earlier run.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from protocol.footprint import CHANGING, ORDERED, AccessSets, observed
from protocol.world import Operation, Replay, Suspended, World
from runtime.errors import HamletError

#: The code of a run: it acts through the first argument, and the input has so many rows.
Program = Callable[[Replay, "Run", int], None]

# Of some states only, most follow one another, so that runs come to their ends.
_JUMPS = 0.05

EMPTY = World()
# Alone, a run takes some hundred steps.
_DEEPEST = 10_000

ENDED, CRASHED = "ended", "crashed"


class Run(NamedTuple):
    """`history` identifies the results of its operations so far."""

    name: str
    rows_each: int
    output: str = "x"
    history: int = 0
    end: str | None = None


class State(NamedTuple):
    """`world` identifies the state of the world."""

    world: int
    runs: tuple[Run, ...]
    crashes: int
    losses: int


@dataclass
class Violation:
    what: str
    path: list[str]

    def __str__(self) -> str:
        return "\n  ".join([self.what, *self.path])


class Interned:
    """Gives equal values equal numbers, so that a state is a few numbers."""

    def __init__(self, *values: Any) -> None:
        self._numbers: dict[Any, int] = {}
        self._values: list[Any] = []
        for value in values:
            self.number(value)

    def number(self, value: Any) -> int:
        number = self._numbers.setdefault(value, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number

    def __getitem__(self, number: int) -> Any:
        return self._values[number]


class Explorer:
    def __init__(
        self,
        program: Program,
        crashes: int = 0,
        losses: int = 0,
        contending: bool = True,
        rows: int = 3,
        outputs: str = "xx",
        world: World = EMPTY,
        reduced: bool = True,
    ) -> None:
        """If not `reduced`, all orders are tried, and crashes and losses at any time."""
        runs = (Run("a" * 12, 1, outputs[0]), Run("b" * 12, 2, outputs[1]))
        self._program = program
        self._rows = rows
        self._reduced = reduced
        self._right = right(rows)
        self._first = State(0, runs if contending else runs[:1], crashes, losses)
        self._worlds = Interned(world)
        #: A history is the one before and a result.
        self._histories = Interned((None, None))
        self.states = self.transitions = self.ends = 0
        self.violation: Violation | None = None
        self._ends: set[int] = set()
        self._came_from: dict[State, tuple[State, str] | None] = {}
        self._next = cache(self._uncached_next)
        self._apply = cache(self._uncached_apply)
        self._finish = cache(self._uncached_finish)
        self._without = cache(self._uncached_without)
        self._alone = cache(self._uncached_alone)
        self._points: dict[tuple[Run, Operation], int] = {}
        self._sets = AccessSets(world.lagging)

    def explore(self, most: int | None = None) -> None:
        """Until all states are known or one violates the promise; or `most` states, at random."""
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEPEST))
        self._came_from[self._first] = None
        waiting, chance = [self._first], random.Random(1)
        while waiting and self.violation is None and self.states != most:
            if most is not None and chance.random() < _JUMPS:
                at = chance.randrange(len(waiting))
                waiting[at], waiting[-1] = waiting[-1], waiting[at]
            state = waiting.pop()
            self.states += 1
            self._check(state)
            for step, after in self._successors(state):
                self.transitions += 1
                if after not in self._came_from:
                    self._came_from[after] = state, step
                    waiting.append(after)

    @property
    def final_worlds(self) -> set[World]:
        """When all runs have ended."""
        return {self._worlds[number] for number in self._ends}

    def _successors(self, state: State) -> Iterator[tuple[str, State]]:
        active = [number for number, run in enumerate(state.runs) if not run.end]
        chosen = active
        if self._reduced:
            alone = next((n for n in active if self._is_independent(state, n)), None)
            chosen = active if alone is None else [alone]
        for number in chosen:
            yield from self._steps(state, number)
        if state.losses:
            yield from self._losses(state, chosen)

    def _steps(self, state: State, number: int) -> Iterator[tuple[str, State]]:
        """The next operation of a run, with all its results, and a crash after it."""
        run = state.runs[number]
        operation = self._next(run)
        if operation is None:
            yield f"{run.name[0]} ends", _with(state, number, run._replace(end=ENDED))
            return
        if state is self._first and state.crashes:
            yield f"{run.name[0]} never starts", _crashed(state, number)
        what = f"{run.name[0]} {operation.kind} {operation.name or operation.value}"
        for how, world, history in self._apply(state.world, run, operation, _alive(state, number)):
            after = _with(state, number, run._replace(history=history))._replace(world=world)
            yield f"{what} {how}".rstrip(), after
            if state.crashes and (operation.kind in CHANGING or not self._reduced):
                yield f"{what} {how}".rstrip() + ", and crashes", _crashed(after, number)

    def _losses(self, state: State, chosen: list[int]) -> Iterator[tuple[str, State]]:
        """Of files that somebody is about to see."""
        names = [name for name, _ in self._worlds[state.world].files]
        operations = [self._next(state.runs[number]) for number in chosen]
        seen = {name for each in operations if each for name in observed(each, names)}
        for name in sorted(seen) if chosen and self._reduced else names:
            lost = self._without(state.world, name)
            yield f"{name} is lost", state._replace(world=lost, losses=state.losses - 1)

    # ---- which orders there are ------------------------------------------------------------

    def _is_independent(self, state: State, number: int) -> bool:
        """Whether the next operation of a run depends on nothing that happens before it."""
        others = [run for n, run in enumerate(state.runs) if n != number and not run.end]
        operation = self._next(state.runs[number])
        if not others:
            return True
        if operation is None:
            return not any(self._future(state, run) & self._sets.waiting for run in others)
        if operation.kind in ORDERED:
            return False
        touched = self._touched(state.world, operation, state.losses)
        return not any(
            self._sets.conflict(each, self._future(state, run))
            for each in touched
            for run in others
        )

    def _touched(self, world: int, operation: Operation, losses: int) -> list[Operation]:
        """An operation, and the losses of files just before it."""
        if not losses:
            return [operation]
        names = [name for name, _ in self._worlds[world].files]
        return [operation, *(Operation("write", name) for name in observed(operation, names))]

    def _future(self, state: State, run: Run) -> int:
        """All accesses of a run from now to its end, if the other one does nothing."""
        return self._alone(state.world, run, state.losses, _alive(state, state.runs.index(run)))

    def _uncached_alone(self, world: int, run: Run, losses: int, alive: frozenset[str]) -> int:
        operation = self._next(run)
        if operation is None:
            return 0
        found = 0
        for each in self._touched(world, operation, losses):
            found |= self._sets.of(each)
        for _, after, history in self._apply(world, run, operation, alive):
            found |= self._alone(after, run._replace(history=history), losses, alive)
        if losses:
            names = [name for name, _ in self._worlds[world].files]
            for name in observed(operation, names):
                found |= self._alone(self._without(world, name), run, losses - 1, alive)
        return found

    # ---- states ----------------------------------------------------------------------------

    def _check(self, state: State) -> None:
        rows = self._worlds[state.world].rows
        if not set(rows) <= set(self._right) or len(set(rows)) != len(rows):
            self._found(f"readers see {rows}", state)
        if all(run.end for run in state.runs):
            self.ends += 1
            self._ends.add(state.world)
            end = self._finish(state.world)
            if isinstance(end, str):
                self._found(end, state)
            elif end != self._right:
                self._found(f"in the end, readers see {end} instead of {self._right}", state)

    def _uncached_next(self, run: Run) -> Operation | None:
        """The next operation of a run; None if it has ended, or given up."""
        try:
            self._program(Replay(self._results(run.history)), run, self._rows)
        except Suspended as suspended:
            return suspended.operation
        except HamletError:
            return None
        return None

    def _results(self, history: int) -> list[Any]:
        found = []
        while history:
            history, result = self._histories[history]
            found.append(result)
        return found[::-1]

    def _uncached_apply(
        self, world: int, run: Run, operation: Operation, alive: frozenset[str]
    ) -> list[tuple[str, int, int]]:
        """For each result of an operation: what happened, the world, and the run's history."""
        found = []
        for how, after, result in self._worlds[world].outcomes(operation, run.name, alive):
            history = self._histories.number((run.history, result))
            if operation.kind == "point" and self._reduced:
                # All histories that end here with the same values in a run go on alike.
                history = self._points.setdefault((run._replace(history=0), operation), history)
            found.append((how, self._worlds.number(after), history))
        return found

    def _uncached_without(self, world: int, name: str) -> int:
        return self._worlds.number(self._worlds[world].without(name))

    def _uncached_finish(self, number: int) -> list[tuple[int, int]] | str:
        """What readers see once a third run has done the rest; or why it could not."""
        first, world = self._play(self._worlds[number], Run("c" * 12, 1))
        if first is None:
            return world.rows
        second, world = self._play(world, Run("d" * 12, 1, "y"))
        return world.rows if second is None else f"the last run cannot go on: {first}, {second}"

    def _play(self, world: World, run: Run) -> tuple[str | None, World]:
        """A run without anything in between: why it could not end the job, and the world then."""
        results: list[Any] = []
        while True:
            try:
                self._program(Replay(results), run, self._rows)
            except Suspended as suspended:
                outcomes = world.outcomes(suspended.operation, run.name, frozenset())
                _, world, result = outcomes[0]
                results.append(result)
            except HamletError as error:
                return error.message, world
            else:
                return None, world

    def _found(self, what: str, state: State) -> None:
        path: list[str] = []
        at = self._came_from[state]
        while at is not None:
            path.append(at[1])
            at = self._came_from[at[0]]
        self.violation = self.violation or Violation(what, path[::-1])


def right(rows: int) -> list[tuple[int, int]]:
    """Each row with its value: the sum of all rows up to it, so that lost state is seen too."""
    return [(row, sum(range(row + 1))) for row in range(rows)]


def _alive(state: State, number: int) -> frozenset[str]:
    """The other runs that are active."""
    others = enumerate(state.runs)
    return frozenset(run.name for n, run in others if n != number and not run.end)


def _crashed(state: State, number: int) -> State:
    crashed = _with(state, number, state.runs[number]._replace(end=CRASHED))
    return crashed._replace(crashes=state.crashes - 1)


def _with(state: State, number: int, run: Run) -> State:
    return state._replace(runs=(*state.runs[:number], run, *state.runs[number + 1 :]))
