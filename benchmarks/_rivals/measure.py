"""Runs the systems of a case: warmed up one after the other at each point, then run in turns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from benchmarks._rivals.job import Job
from benchmarks._rivals.process import NotEnded, OutOfMemory, Process
from benchmarks._rivals.systems import HEAP_MB, RIVALS
from benchmarks.baselines.same import different
from benchmarks.baselines.system import Answers
from runtime.errors import HamletError
from runtime.language.parser import parse

ENDED, NOT_ENDED, MEMORY = "ended", "not ended", "out of memory"
CANNOT, NOT_TRIED = "cannot", "not tried"
#: Times have settled when the median of so many runs is less by no more than such a part.
SOME, LESS = 4, 0.1


@dataclass(frozen=True)
class Effort:
    limit_s: float = 30.0  #: of a run
    warm_s: float = 3.0  #: of warming up at a point, and at least one run
    repeats: int = 5
    heap_mb: int = HEAP_MB
    java_warm_s: float = 20.0  #: of warming up a process of Java at its first point

    def warming(self, java: bool, fresh: bool) -> tuple[float, float]:
        """Seconds that it takes at least, and at most while times have not settled."""
        least = self.java_warm_s if java and fresh else self.warm_s
        return least, 2 * (self.java_warm_s if java else self.warm_s)


@dataclass
class Measured:
    """A system at a point. `peak_bytes` is the resident set of its processes at its largest so far,
    `started_bytes` the same when they had started, with the first events, and nothing had run."""

    system: str
    outcome: str = ENDED
    reason: str = ""
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    started_bytes: int = 0


def settled(seconds: Sequence[float]) -> bool:
    """Whether the last runs were about as long as those before them."""
    if len(seconds) < 2 * SOME:
        return False
    before, last = seconds[-2 * SOME : -SOME], seconds[-SOME:]
    return median(last) >= (1 - LESS) * median(before)


class WorkerPool:
    """A process for each system, kept from one point to the next: what Java compiled at one, it has
    compiled at the other. So points go from small to large, as the peak of memory only grows."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._processes: dict[str, Process] = {}
        self._points = 0

    def __enter__(self) -> WorkerPool:
        self._temporary = tempfile.TemporaryDirectory(prefix="hamlet-rivals-")
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.end()
        self._temporary.cleanup()

    def measure(
        self, job: Job, systems: Sequence[str], progress: Callable[[str], None]
    ) -> list[Measured]:
        """All systems over one job. Answers that differ are an error."""
        found = {name: Measured(name) for name in systems}
        for each in found.values():
            reason = RIVALS[each.system].cannot(job)
            if reason is not None:
                each.outcome, each.reason = CANNOT, reason
        folder = Path(self._temporary.name) / f"{self._points}"
        self._points += 1
        point = _Point(job, folder, self._effort, self._processes)
        point.start([each for each in found.values() if each.outcome == ENDED])
        point.warm(progress)
        for turn in range(self._effort.repeats):
            progress(f"repeat {turn + 1} of {self._effort.repeats}")
            point.take_turns(turn)
        point.end()
        return [*found.values()]


def measure(
    job: Job, systems: Sequence[str], effort: Effort, progress: Callable[[str], None]
) -> list[Measured]:
    """One point alone."""
    with WorkerPool(effort) as pool:
        return pool.measure(job, systems, progress)


class _Point:
    def __init__(
        self, job: Job, folder: Path, effort: Effort, processes: dict[str, Process]
    ) -> None:
        self._job = job
        self._folder = folder
        self._effort = effort
        self._processes = processes
        self._workload = parse(job.workload)
        self._running: dict[str, Measured] = {}
        self._fresh: set[str] = set()
        self._right: tuple[str, Answers] | None = None

    def start(self, systems: list[Measured]) -> None:
        self._job.write(self._folder)
        self._running = {each.system: each for each in systems}
        self._fresh = self._running.keys() - self._processes.keys()
        for name in self._running:
            if name in self._fresh:
                log = self._folder / f"{name}.log"
                process = Process(RIVALS[name], self._folder, log, self._effort.heap_mb)
                self._processes[name] = process
        for each in systems:
            process = self._processes[each.system]
            if each.system in self._fresh:
                self._guarded(each, process.ready)
            else:
                self._guarded(each, partial(process.load, self._folder))

    def warm(self, progress: Callable[[str], None]) -> None:
        for name, each in [*self._running.items()]:
            progress(f"warming up {name}")
            least, most = self._effort.warming(RIVALS[name].java, name in self._fresh)
            began = time.monotonic()
            seconds: list[float] = []
            # a new process also loads what it is made of in its first run, beyond a run's limit
            beyond = most if name in self._fresh else 0.0
            while (told := self._ran(each, beyond if not seconds else 0.0)) is not None:
                seconds.append(told["wall"])
                took = time.monotonic() - began
                if took >= most or (took >= least and settled(seconds)):
                    break

    def take_turns(self, turn: int) -> None:
        """In an order that rotates, so that nobody always runs behind the same other."""
        going = [*self._running.values()]
        shift = turn % max(1, len(going))
        for each in going[shift:] + going[:shift]:
            told = self._ran(each)
            if told is not None:
                each.seconds.append(told["wall"])
                each.cpu_seconds.append(told["cpu"])

    def end(self) -> None:
        for each in self._running.values():
            self._note_memory(each)

    def _ran(self, each: Measured, beyond: float = 0.0) -> dict[str, Any] | None:
        told: dict[str, Any] = {}

        def run() -> None:
            told.update(self._processes[each.system].run(self._effort.limit_s + beyond))
            self._check(each.system, _answers(self._job, told["rows"]))

        return told if self._guarded(each, run) else None

    def _note_memory(self, each: Measured) -> None:
        process = self._processes[each.system]
        each.peak_bytes, each.started_bytes = process.peak_bytes(), process.started_bytes

    def _guarded(self, each: Measured, work: Callable[[], None]) -> bool:
        """Whether it went on; if not, that is noted and the system is out."""
        try:
            work()
            return True
        except NotEnded:
            each.outcome = NOT_ENDED
            each.reason = f"not within {self._effort.limit_s:g} s"
        except OutOfMemory:
            each.outcome = MEMORY
            each.reason = f"{self._effort.heap_mb:,} MB were not enough"
        self._note_memory(each)
        each.seconds, each.cpu_seconds = [], []
        self._processes.pop(each.system).end()
        del self._running[each.system]
        return False

    def _check(self, system: str, answers: Answers) -> None:
        if self._right is None:
            self._right = system, answers
        first, right = self._right
        found = different(self._workload, answers, right)
        if found is not None:
            raise HamletError(f"{system} and {first} do not agree: {found}")


def _answers(job: Job, rows: list[tuple[str, int, float, float]]) -> Answers:
    """As tables, which is how answers are compared."""
    return {
        query.name: pa.table(
            {
                "window_start": [row[1] * job.within for row in rows if row[0] == query.name],
                "n": [row[2] for row in rows if row[0] == query.name],
                "s": [row[3] for row in rows if row[0] == query.name],
            }
        )
        for query in job.queries
    }
