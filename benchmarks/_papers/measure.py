"""Runs experiments: every system at every point, in turns.

At each point, every system warms up once, and all answers must agree. Then the systems take turns
in a rotating order, so that a slow period of the machine affects all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from benchmarks._papers.experiment import Experiment, Sweep, X, stream
from benchmarks._papers.store import Row
from benchmarks._papers.worker import Find, Ran, Stopped, Worker
from benchmarks.baselines import registry
from benchmarks.baselines.same import different
from runtime.errors import Failure
from runtime.language.parser import parse

#: Systems that plan: they give no answers, and their latency is that of a plan, not of a window.
PLANS = "plan-"
#: What a system may take for a few events, before it is measured with many.
WARM_SECONDS = 60.0


@dataclass(frozen=True)
class Mode:
    name: str
    limit: float  #: seconds that a run may take
    repeats: int


FULL = Mode("full", limit=20.0, repeats=7)
QUICK = Mode("quick", limit=1.5, repeats=5)
TINY = Mode("tiny", limit=60.0, repeats=1)


class Runs(Protocol):
    """A system that runs somewhere; all but `end` may raise `Stopped`."""

    def prepare(self, workload: str, table: pa.Table) -> None: ...
    def first(self, limit: float) -> Ran: ...
    def timed(self, limit: float) -> Ran: ...
    def forget(self) -> None: ...
    def end(self) -> None: ...


class WorkerPool:
    """A worker for each system, kept from one experiment to the next if that needs it."""

    def __init__(self, find: Find = registry.system) -> None:
        self._find = find
        self._workers: dict[str, Runs] = {}

    def start(self, system: str) -> Runs:
        return Worker(system, self._find)

    def only(self, systems: Iterable[str]) -> dict[str, Runs]:
        """Workers of these, and of no others."""
        systems = list(systems)
        for name in self._workers.keys() - set(systems):
            self._workers.pop(name).end()
        for name in systems:
            self._workers[name] = self._workers.get(name) or self.start(name)
        return {name: self._workers[name] for name in systems}

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.only(())


def points(experiments: Sequence[Experiment], mode: Mode) -> int:
    """How many there are to measure."""
    return sum(
        len(sweep.values[mode.name]) for each in experiments for sweep in each.sweeps.values()
    )


def measured(
    experiment: Experiment, mode: Mode, pool: WorkerPool, tell: Callable[[list[Row]], None]
) -> list[Row]:
    """Tells the rows of a point when it is done."""
    workers = pool.only(experiment.systems)
    rows: list[Row] = []
    for sweep in experiment.sweeps.values():
        out: dict[str, str] = {}
        if mode is not TINY:
            _warm(experiment, sweep, workers)
        for x in sweep.values[mode.name]:
            point = _Point(experiment, sweep, x, mode)
            found = point.measured(workers, out)
            for row in found:
                if row.status in ("not ended", "failed"):
                    out[row.system] = f"{row.reason} at {sweep.label} {x}"
            rows += found
            tell(found)
    return rows


def _warm(experiment: Experiment, sweep: Sweep, workers: dict[str, Runs]) -> None:
    """Compiles what a system needs and lets it measure what it wants to know of the machine, over a
    few events of the same kind. Who fails here fails at a point, too, and is told of there."""
    made = stream(experiment.stream)(
        **experiment.arguments(sweep, sweep.values["tiny"][-1], "tiny")
    )
    for worker in workers.values():
        try:
            worker.prepare(made.workload, made.table)
            worker.first(WARM_SECONDS)
        except Stopped:
            pass


@dataclass
class _Taken:
    """The runs of a system at a point."""

    runs: list[Ran] = field(default_factory=list)
    answers: Any = None
    status: str = "ended"
    reason: str = ""

    def stop(self, status: str, reason: str) -> None:
        self.status, self.reason, self.runs = status, reason, []


class _Point:
    def __init__(self, experiment: Experiment, sweep: Sweep, x: X, mode: Mode) -> None:
        self._experiment, self._sweep, self._x, self._mode = experiment, sweep, x, mode
        made = stream(experiment.stream)(**experiment.arguments(sweep, x, mode.name))
        self._text, self._table, window_events = made
        self._workload = parse(self._text)
        self._windows = max(1, round(self._table.num_rows / window_events)) if window_events else 1

    def measured(self, workers: dict[str, Runs], out: dict[str, str]) -> list[Row]:
        """`out`: systems that are not tried any more, and why."""
        taken = {name: _Taken() for name in workers}
        for name, why in out.items():
            taken[name].stop("not tried", why)
        for name in self._going(taken):
            self._warmed(workers[name], taken[name])
        self._compare(taken)
        for turn in range(self._mode.repeats):
            going = self._going(taken)
            shift = turn % max(1, len(going))
            for name in going[shift:] + going[:shift]:
                self._repeated(workers[name], taken[name])
        for name in self._going(taken):
            workers[name].forget()
        return [self._row(name, each) for name, each in taken.items()]

    def _going(self, taken: dict[str, _Taken]) -> list[str]:
        return [name for name, each in taken.items() if each.status == "ended"]

    def _warmed(self, worker: Runs, taken: _Taken) -> None:
        try:
            worker.prepare(self._text, self._table)
            taken.answers = worker.first(self._mode.limit).answers
        except Stopped as stop:
            taken.stop(stop.status, stop.reason)

    def _repeated(self, worker: Runs, taken: _Taken) -> None:
        try:
            taken.runs.append(worker.timed(self._mode.limit))
        except Stopped as stop:
            taken.stop(stop.status, stop.reason)

    def _compare(self, taken: dict[str, _Taken]) -> None:
        names = [name for name in self._going(taken) if not name.startswith(PLANS)]
        for name in names[1:]:
            wrong = different(self._workload, taken[name].answers, taken[names[0]].answers)
            if wrong is not None:
                raise Failure(
                    f"{self._experiment.name}, {self._sweep.label} {self._x}: `{name}` and "
                    f"`{names[0]}` give different answers: {wrong}"
                )
        for each in taken.values():
            each.answers = None

    def _row(self, name: str, taken: _Taken) -> Row:
        return Row(
            experiment=self._experiment.name,
            sweep=self._sweep.name,
            x=str(self._x),
            system=name,
            status=taken.status,
            reason=taken.reason,
            seconds=tuple(ran.seconds for ran in taken.runs),
            cpu_seconds=tuple(ran.cpu_seconds for ran in taken.runs),
            windows=1 if name.startswith(PLANS) else self._windows,
            events=self._table.num_rows,
            queries=len(self._workload),
            state_bytes=max((ran.state_bytes for ran in taken.runs), default=None),
            figures={
                figure: tuple(ran.figures[figure] for ran in taken.runs)
                for figure in (taken.runs[0].figures if taken.runs else ())
            },
        )
