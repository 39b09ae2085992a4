"""Adds up what happens in a job, epoch by epoch."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from runtime.metrics.facts import (
    FORMER,
    OTHER,
    ActorFacts,
    CheckpointFacts,
    Facts,
    GroupFacts,
    ModelFacts,
    Noted,
    QueryFacts,
)
from runtime.metrics.histogram import Histogram
from runtime.sharing.decisions import Decisions, TypeDecisions, group_name, merged

# So many queries, share groups with a type, and reasons have names of their own.
NAMED_QUERIES, NAMED_GROUPS, NAMED_REASONS = 200, 200, 20
# Decisions that are kept to be looked at.
LOGGED = 256
EXAMPLES_EACH = 4

#: The names of its queries, and what is decided on.
GroupKey: TypeAlias = tuple[tuple[str, ...], str]


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
        self._queries: dict[str, _OfQuery] = {name: _OfQuery() for name in queries}
        self._stages: dict[str, Histogram] = {}
        self._groups: dict[GroupKey, Decisions] = {}
        self._group_of: dict[str, GroupKey] = {}
        self._former: dict[str, Decisions] = {}
        self._log: deque[Noted] = deque(maxlen=LOGGED)
        self._noted = 0
        self._restarts: Counter[str] = Counter()
        self._drawings: dict[str, str] = {}

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
            if name in self._queries:
                self._queries[name].results = number

    def running(self, queries: Iterable[str]) -> None:
        """Queries came or went. What is known of those that went is forgotten."""
        self._queries = {name: self._queries.get(name) or _OfQuery() for name in queries}
        for key in [key for key in self._groups if not set(key[0]) <= self._queries.keys()]:
            self._retire(key)

    def passed(self, passed: Passed) -> None:
        """An epoch is committed and its results are out."""
        now = time.time()
        for stage, seconds in passed.stages.items():
            self._stages.setdefault(stage, Histogram()).add(seconds)
        for name, number in passed.results.items():
            if name in self._queries:
                self._queries[name].results += number
                self._queries[name].windows += passed.windows.get(name, 0)
                self._queries[name].latency.add_all(passed.latencies.get(name, ()))
        for actor, decided in passed.decided.items():
            for each in decided:
                self._decided(each)
                self._note(each, actor, passed.epoch, now)
        self._facts = replace(
            self._facts,
            time=now,
            epoch=passed.epoch,
            epochs=self._facts.epochs + 1,
            rows=passed.rows,
            events=passed.events,
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

    def _decided(self, decided: Decisions) -> None:
        """A query shares in one group at a time: where it turns up in another, that one is over."""
        key = (decided.queries, decided.over)
        if key not in self._groups:
            over = [self._group_of[name] for name in decided.queries if name in self._group_of]
            for other in dict.fromkeys(over):
                self._retire(other)
            self._group_of.update(dict.fromkeys(decided.queries, key))
        known = self._groups.get(key)
        both = [replace(decided, examples=())] if known is None else [known, decided]
        self._groups[key] = replace(merged(both)[0], examples=())

    def _retire(self, key: GroupKey) -> None:
        for name in key[0]:
            del self._group_of[name]
        gone = replace(self._groups.pop(key), queries=())
        known = self._former.get(gone.over)
        self._former[gone.over] = gone if known is None else merged([known, gone])[0]

    def _note(self, decided: Decisions, actor: str, epoch: int, now: float) -> None:
        name = group_name(decided.queries)
        newest = sorted(decided.examples, key=lambda each: each.number)[-EXAMPLES_EACH:]
        for example in newest:
            self._log.append(Noted(name, epoch, now, actor, example, self._noted))
            self._noted += 1

    @property
    def decisions(self) -> list[Decisions]:
        """All that was decided, by share group; those that are over come last, as one."""
        return [*self._groups.values(), *self._former.values()]

    # ---- what is known ---------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        return replace(
            self._facts,
            stages={name: each.copy() for name, each in self._stages.items()},
            queries=self._of_queries(),
            workload=len(self._queries),
            groups=tuple(self._of_groups()),
            log=tuple(self._log),
            restarts=dict(self._restarts),
            drawings=self._drawings,
        )

    def _of_queries(self) -> dict[str, QueryFacts]:
        names = list(self._queries)
        found = {name: self._queries[name].facts for name in names[:NAMED_QUERIES]}
        if len(names) > NAMED_QUERIES:
            found[OTHER] = _together(self._queries[name] for name in names[NAMED_QUERIES:])
        return found

    def _of_groups(self) -> Iterable[GroupFacts]:
        named = 0
        rest: list[Decisions] = []
        for each in self._groups.values():
            named += len(each.types)
            if named > NAMED_GROUPS:
                rest.append(replace(each, queries=()))
            else:
                name = group_name(each.queries)
                yield GroupFacts(name, each.queries, each.over, each.types)
        for each in merged(rest):
            yield GroupFacts(OTHER, (), each.over, (_one_type(each.types, OTHER),))
        for each in self._former.values():
            yield GroupFacts(FORMER, (), each.over, (_one_type(each.types, OTHER),))


def _together(several: Iterable[_OfQuery]) -> QueryFacts:
    results, windows, latency = 0, 0, Histogram()
    for each in several:
        results += each.results
        windows += each.windows
        latency.merge(each.latency)
    return QueryFacts(results, windows, latency)


def _one_type(types: Iterable[TypeDecisions], name: str) -> TypeDecisions:
    renamed = [Decisions((), (replace(each, type=name),), ()) for each in types]
    return merged(renamed)[0].types[0]


def _bounded(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Those that came first have names of their own, so that no count ever goes back."""
    each = list(counts.items())
    found = dict(each[:most])
    if len(each) > most:
        found[OTHER] = found.get(OTHER, 0) + sum(count for _, count in each[most:])
    return found
