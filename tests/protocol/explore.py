"""Explores every order in which the operations of two runs, crashes and lost files can happen.

A run that is paused is one whose next operation comes late, so all pauses are among the orders.
When both runs have ended, a third one must finish the job, alone. Runs may have different outputs:
then the third one does as a user does whom it tells to go on with the output of an earlier run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from protocol.world import Operation, Replay, Suspended, World
from runtime.errors import HamletError

#: The code of a run: it acts through the first argument, and the input has so many rows.
Program = Callable[[Replay, "Run", int], None]

# Of some states only, most follow one another, so that runs come to their ends.
_JUMPS = 0.05

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
    ) -> None:
        runs = (Run("a" * 12, 1, outputs[0]), Run("b" * 12, 2, outputs[1]))
        self._program = program
        self._rows = rows
        self._right = right(rows)
        self._first = State(0, runs if contending else runs[:1], crashes, losses)
        self._worlds = Interned(World())
        #: A history is the one before and a result.
        self._histories = Interned((None, None))
        self.states = self.transitions = self.ends = 0
        self.violation: Violation | None = None
        self._came_from: dict[State, tuple[State, str] | None] = {}
        self._next = cache(self._uncached_next)
        self._apply = cache(self._uncached_apply)
        self._finish = cache(self._uncached_finish)

    def explore(self, most: int | None = None) -> None:
        """Until all states are known or one violates the promise; or `most` states, at random."""
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

    def _successors(self, state: State) -> Iterator[tuple[str, State]]:
        for number, run in enumerate(state.runs):
            if run.end:
                continue
            operation = self._next(run._replace(end=None))
            if operation is None:
                yield f"{run.name[0]} ends", _with(state, number, run._replace(end=ENDED))
                continue
            world, history = self._apply(state.world, run.history, operation)
            after = _with(state, number, run._replace(history=history))._replace(world=world)
            yield f"{run.name[0]} {operation.kind} {operation.name or operation.value}", after
            if state.crashes and run.history:
                crashed = _with(state, number, run._replace(end=CRASHED))
                yield f"{run.name[0]} crashes", crashed._replace(crashes=state.crashes - 1)
        if state.losses:
            world = self._worlds[state.world]
            for name, _ in world.files:
                lost = self._worlds.number(world.without(name))
                yield f"{name} is lost", state._replace(world=lost, losses=state.losses - 1)

    def _check(self, state: State) -> None:
        rows = self._worlds[state.world].rows
        if not set(rows) <= set(self._right) or len(set(rows)) != len(rows):
            self._found(f"readers see {rows}", state)
        if all(run.end for run in state.runs):
            self.ends += 1
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

    def _uncached_apply(self, world: int, history: int, operation: Operation) -> tuple[int, int]:
        after, result = self._worlds[world].apply(operation)
        return self._worlds.number(after), self._histories.number((history, result))

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
                world, result = world.apply(suspended.operation)
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


def _with(state: State, number: int, run: Run) -> State:
    return state._replace(runs=(*state.runs[:number], run, *state.runs[number + 1 :]))
