"""Adds up what happens in a job, epoch by epoch."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from runtime.metrics.histogram import Histogram
from runtime.metrics.sharing_totals import Groups
from runtime.metrics.snapshot import OTHER, ActorFacts, CheckpointFacts, Facts, Noted, QueryFacts
from runtime.optimizer.model_report import ModelFacts
from runtime.plan.decisions import Decisions, group_name

# So many queries and reasons have names of their own.
NAMED_QUERIES, NAMED_REASONS = 200, 20
# Decisions that are kept to be looked at.
LOGGED = 256
EXAMPLES_EACH = 4


@dataclass(frozen=True)
class Passed:
    """What one epoch came to. `rows` to `dead` are totals of the job, all else is of this epoch;
    `latencies` are seconds, one for each window of a query with results."""

    epoch: int
    rows: int = 0
    events: int = 0
    late: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)
    stages: Mapping[str, float] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)
    windows: Mapping[str, int] = field(default_factory=dict)
    latencies: Mapping[str, list[float]] = field(default_factory=dict)
    decided: Mapping[str, list[Decisions]] = field(default_factory=dict)  #: by actor
    actors: Mapping[str, ActorFacts] = field(default_factory=dict)
    watermark: int | None = None
    newest: int | None = None
    backlog: int = 0
    backlog_in: str = "bytes"
    in_flight: int = 0
    saved_bytes: int = 0
    checkpoint_bytes: int | None = None  #: None: there are no checkpoints
    finished: bool = False


class _OfQuery:
    def __init__(self, results: int = 0) -> None:
        self.results = results
        self.windows = 0
        self.latency = Histogram()

    @property
    def facts(self) -> QueryFacts:
        return QueryFacts(self.results, self.windows, self.latency.copy())


class Ledger:
    def __init__(self, job: str, engine: str, queries: Iterable[str]) -> None:
        now = time.time()
        self._facts = Facts(job=job, engine=engine, began=now, time=now)
        self._queries: dict[str, _OfQuery] = {}
        self._rest = _OfQuery()  # of queries without a name
        self._workload = 0
        self._known: set[str] = set()
        self._stages: dict[str, Histogram] = {}
        self._groups = Groups()
        self._log: deque[Noted] = deque(maxlen=LOGGED)
        self._noted = 0
        self._restarts: Counter[str] = Counter()
        self._drawings: dict[str, str] = {}
        self.running(queries)

    # ---- what happens ----------------------------------------------------------------------

    def resumed(self, last: Passed) -> None:
        """The job goes on from a checkpoint, after an epoch with these totals."""
        self._facts = replace(
            self._facts,
            epoch=last.epoch,
            rows=last.rows,
            events=last.events,
            late=last.late,
            dead=_bounded(last.dead, NAMED_REASONS),
            watermark=last.watermark,
            newest=last.newest,
        )
        for name, number in last.results.items():
            self._queries.get(name, self._rest).results += number
        self._facts = replace(self._facts, results=sum(last.results.values()))

    def running(self, queries: Iterable[str]) -> None:
        """Queries came or went. What is known of those that went is forgotten. A query keeps its
        name, or has none, for as long as it is there: so no count ever goes back."""
        now = dict.fromkeys(queries)
        new = [name for name in now if name not in self._known]
        self._queries = {name: each for name, each in self._queries.items() if name in now}
        for name in new[: NAMED_QUERIES - len(self._queries)]:
            self._queries[name] = _OfQuery()
        self._known, self._workload = set(now), len(now)
        self._groups.running(self._known)

    def passed(self, passed: Passed) -> None:
        """An epoch is committed and its results are out."""
        now = time.time()
        for stage, seconds in passed.stages.items():
            self._stages.setdefault(stage, Histogram()).add(seconds)
        for name, number in passed.results.items():
            if name in self._known:
                query = self._queries.get(name, self._rest)
                query.results += number
                query.windows += passed.windows.get(name, 0)
                query.latency.add_all(passed.latencies.get(name, ()))
        for actor, decided in passed.decided.items():
            for each in decided:
                self._groups.decided(each)
                self._note(each, actor, passed.epoch, now)
        self._facts = replace(
            self._facts,
            time=now,
            epoch=passed.epoch,
            epochs=self._facts.epochs + 1,
            rows=passed.rows,
            events=passed.events,
            results=self._facts.results + sum(passed.results.values()),
            windows=self._facts.windows + sum(passed.windows.values()),
            late=passed.late,
            dead=_bounded(passed.dead, NAMED_REASONS),
            actors=dict(passed.actors),
            watermark=passed.watermark,
            newest=passed.newest,
            backlog=passed.backlog,
            backlog_in=passed.backlog_in,
            in_flight=passed.in_flight,
            finished=passed.finished,
            checkpoint=self._checkpoint(passed, now),
        )

    def _checkpoint(self, passed: Passed, now: float) -> CheckpointFacts:
        known = self._facts.checkpoint
        if passed.checkpoint_bytes is None:
            return known
        return CheckpointFacts(passed.checkpoint_bytes, known.written + passed.saved_bytes, now)

    def stands(self, in_flight: int, backlog: int) -> None:
        """How things stand between two commits, so that a job that hangs can be told from one
        that has nothing to do."""
        self._facts = replace(self._facts, in_flight=in_flight, backlog=backlog)

    def learned(self, model: ModelFacts) -> None:
        self._facts = replace(self._facts, model=model)

    def restarted(self, part: str) -> None:
        """Something died, and its work is repeated."""
        self._restarts[part] += 1

    def drawn(self, drawings: Mapping[str, str]) -> None:
        self._drawings = dict(drawings)

    # ---- decisions -------------------------------------------------------------------------

    def _note(self, decided: Decisions, actor: str, epoch: int, now: float) -> None:
        name = group_name(decided.queries)
        newest = sorted(decided.examples, key=lambda each: each.number)[-EXAMPLES_EACH:]
        for example in newest:
            self._log.append(Noted(name, epoch, now, actor, example, self._noted))
            self._noted += 1

    @property
    def decisions(self) -> list[Decisions]:
        return self._groups.decisions

    # ---- what is known ---------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        return replace(
            self._facts,
            stages={name: each.copy() for name, each in self._stages.items()},
            queries=self._of_queries(),
            workload=self._workload,
            groups=tuple(self._groups.facts()),
            log=tuple(self._log),
            restarts=dict(self._restarts),
            drawings=self._drawings,
        )

    def _of_queries(self) -> dict[str, QueryFacts]:
        found = {name: each.facts for name, each in self._queries.items()}
        if self._workload > len(self._queries) or self._rest.results:
            found[OTHER] = self._rest.facts
        return found


def _bounded(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Those that came first have names of their own, so that no count ever goes back."""
    each = list(counts.items())
    found = dict(each[:most])
    if len(each) > most:
        found[OTHER] = found.get(OTHER, 0) + sum(count for _, count in each[most:])
    return found
