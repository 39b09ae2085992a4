"""Runs of a job that crash, pause, contend for a checkpoint and find files damaged, at random.

The runs are threads with the product's classes. The scheduler lets one of them do one operation at
a time, so a history is determined by its seed.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from protocol.explore import Run, right
from protocol.programs import two_copies
from protocol.world import Operation, World
from runtime.errors import HamletError

ROWS = 12
RUNS = 8


class Crashed(BaseException):
    """The process of the run is gone."""


class LiveRun(threading.Thread):
    """A run that waits for the scheduler before each operation."""

    def __init__(self, name: str, rows_each: int) -> None:
        super().__init__(name=name, daemon=True)
        self._rows_each = rows_each
        self._asked, self._answered = threading.Semaphore(0), threading.Semaphore(0)
        self._answer: Any = None
        self.operation: Operation | None = None  #: the next one; None at the end
        self.refused = ""

    def run(self) -> None:
        try:
            two_copies(self._do, Run(self.name, self._rows_each), ROWS)  # type: ignore[arg-type]
        except HamletError as error:
            self.refused = error.message
        except Crashed:
            pass
        self.operation = None
        self._asked.release()

    def begin(self) -> None:
        self.start()
        self._asked.acquire()

    def resume(self, answer: Any) -> None:
        """Gives the result of its operation, and waits for the next one."""
        self._answer = answer
        self._answered.release()
        self._asked.acquire()

    def _do(self, kind: str, name: str = "", value: Any = None) -> Any:
        self.operation = Operation(kind, name, value)
        self._asked.release()
        self._answered.acquire()
        if isinstance(self._answer, Crashed):
            raise self._answer
        return self._answer


@dataclass
class History:
    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    steps: list[str] = field(default_factory=list)
    world: World = field(default_factory=World)

    def play(self) -> None:
        """Several runs with faults, and then one without, which must finish the job."""
        chance = random.Random(self.seed)
        names = [f"{chance.getrandbits(48):012x}" for _ in range(RUNS + 1)]
        waiting = [LiveRun(name, chance.randint(1, 3)) for name in names[:RUNS]]
        active: list[LiveRun] = []
        while waiting or active:
            if waiting and (not active or (len(active) < 3 and chance.random() < 0.04)):
                active.append(waiting.pop())
                active[-1].begin()
                self.faults["contending"] += len(active) > 1
            self._advance(chance.choice(active), chance)
            active = [run for run in active if run.operation is not None]
            if chance.random() < 0.04:
                self._damage(chance)
        last = LiveRun(names[RUNS], 1)
        last.begin()
        while last.operation is not None:
            self._advance(last, None)
        assert self.world.rows == right(ROWS), self.explain(last.refused)

    def _advance(self, run: LiveRun, chance: random.Random | None) -> None:
        assert run.operation is not None
        if chance is not None and chance.random() < 0.01:
            self.faults["crash"] += 1
            self.steps.append(f"{run.name} crashes")
            run.resume(Crashed())
            return
        kind, name, value = run.operation
        self.steps.append(f"{run.name} {kind} {name or value}")
        self.world, result = self.world.apply(run.operation)
        run.resume(result)

    def _damage(self, chance: random.Random) -> None:
        """Flips a bit of a file, cuts it or deletes it, if its other copy is intact."""
        files = dict(self.world.files)
        intact = sorted(name for name, data in files.items() if files.get(_twin(name)) == data)
        if not intact:
            return
        name, how = chance.choice(intact), chance.choice(["flip", "cut", "loss"])
        self.faults[how] += 1
        self.steps.append(f"{how} of {name}")
        data = bytearray(files[name])
        if how == "loss":
            self.world = self.world.without(name)
            return
        if how == "flip":
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        files[name] = bytes(data if how == "flip" else data[: chance.randrange(len(data))])
        self.world = replace(self.world, files=frozenset(files.items()))

    def explain(self, refused: str) -> str:
        return "\n".join([f"seed {self.seed}: {self.world.rows}; {refused}", *self.steps])


def _twin(name: str) -> str:
    return {"a": "b", "b": "a"}[name[0]] + name[1:]


def play(first: int, faults: int) -> Counter[str]:
    """Histories from a seed on, until there were so many faults."""
    total: Counter[str] = Counter()
    while total.total() < faults:
        history = History(first)
        history.play()
        total += history.faults
        first += 1
    return total
