"""Wall and CPU time of tasks that take turns, on one thread."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeAlias

#: Makes what is timed, before the clock starts.
Work: TypeAlias = Callable[[], Callable[[], Any]]


@dataclass
class Times:
    """Seconds of each repeat."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return median(self.wall)

    @property
    def best(self) -> float:
        return min(self.wall)


def in_turns(
    works: Mapping[str, Work], repeats: int, told: Callable[[str], None] = lambda name: None
) -> dict[str, Times]:
    """A turn of all of them that does not count, which compiles, and then `repeats` that do: a slow
    spell of the machine hits all."""
    found = {name: Times() for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            if not turn:
                told(name)
            wall, cpu = clock(work())
            if turn:
                found[name].wall.append(wall)
                found[name].cpu.append(cpu)
    return found


def clock(work: Callable[[], Any]) -> tuple[float, float]:
    gc.collect()
    gc.disable()
    try:
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        return time.perf_counter() - wall, time.process_time() - cpu
    finally:
        gc.enable()
