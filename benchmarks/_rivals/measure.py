"""Systems at one point: started together, warmed up one after the other, then run in turns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass(frozen=True)
class Effort:
    limit_s: float = 30.0  #: of a run
    warm_s: float = 3.0  #: of warming up, at least one run
    repeats: int = 5
    heap_mb: int = HEAP_MB


@dataclass
class Measured:
    """A system at a point. `peak_bytes` is the resident set of its processes at its largest,
    `started_bytes` the same when the events were loaded and nothing had run."""

    system: str
    outcome: str = ENDED
    reason: str = ""
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    started_bytes: int = 0


def measure(
    job: Job, systems: Sequence[str], effort: Effort, progress: Callable[[str], None]
) -> list[Measured]:
    """All systems over one job. Answers that differ are an error."""
    found = {name: Measured(name) for name in systems}
    for each in found.values():
        reason = RIVALS[each.system].cannot(job)
        if reason is not None:
            each.outcome, each.reason = CANNOT, reason
    with tempfile.TemporaryDirectory(prefix="hamlet-rivals-") as temporary:
        point = _Point(job, Path(temporary), effort)
        try:
            point.start([each for each in found.values() if each.outcome == ENDED])
            point.warm(progress)
            for turn in range(effort.repeats):
                progress(f"repeat {turn + 1} of {effort.repeats}")
                point.take_turns()
        finally:
            point.end()
    return [*found.values()]


class _Point:
    def __init__(self, job: Job, folder: Path, effort: Effort) -> None:
        self._job = job
        self._folder = folder
        self._effort = effort
        self._workload = parse(job.workload)
        self._running: dict[str, tuple[Measured, Process]] = {}
        self._right: tuple[str, Answers] | None = None

    def start(self, systems: list[Measured]) -> None:
        events = self._folder / "job"
        self._job.write(events)
        for each in systems:
            log = self._folder / f"{each.system}.log"
            process = Process(RIVALS[each.system], events, log, self._effort.heap_mb)
            self._running[each.system] = each, process
        for each, process in [*self._running.values()]:
            self._guarded(each, process, process.ready)

    def warm(self, progress: Callable[[str], None]) -> None:
        for each, process in [*self._running.values()]:
            progress(f"warming up {each.system}")
            until = time.monotonic() + self._effort.warm_s
            while self._ran(each, process, counted=False) and time.monotonic() < until:
                pass

    def take_turns(self) -> None:
        for each, process in [*self._running.values()]:
            self._ran(each, process, counted=True)

    def end(self) -> None:
        for each, process in self._running.values():
            each.peak_bytes, each.started_bytes = process.peak_bytes(), process.started_bytes
            process.end()

    def _ran(self, each: Measured, process: Process, counted: bool) -> bool:
        def run() -> None:
            told = process.run(self._effort.limit_s)
            self._check(each.system, _answers(self._job, told["rows"]))
            if counted:
                each.seconds.append(told["wall"])
                each.cpu_seconds.append(told["cpu"])

        return self._guarded(each, process, run)

    def _guarded(self, each: Measured, process: Process, work: Callable[[], None]) -> bool:
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
        each.peak_bytes, each.started_bytes = process.peak_bytes(), process.started_bytes
        each.seconds, each.cpu_seconds = [], []
        process.end()
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
