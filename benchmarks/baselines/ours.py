"""This engine as one of the systems, with several plans and sharing modes."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.baselines.system import Answers, Prepared, System
from runtime.language.query import Workload
from runtime.pipeline.engine import Engine, Results
from runtime.plan.planner import plan
from runtime.plan.sharing_plan import SharingPlan
from runtime.plan.statistics import Statistics

BATCH_ROWS = 1_048_576


class PreparedEngine(Prepared):
    """An engine cannot start over, so each run has one of its own, made before it is timed."""

    def __init__(self, workload: Workload, table: pa.Table, sharing: str, plan: SharingPlan | None):
        self._workload = workload
        self._planned = planned_snapshots(plan, counts(table)) if plan is not None else None
        self._options = {"sharing": sharing, "plan": plan, "kernels": "general"}
        self._schema = table.schema
        maker = self._engine()
        self._batches = [maker.prepare(each) for each in table.to_batches(BATCH_ROWS)]
        self._next: Engine | None = maker

    def ready(self) -> None:
        self._next = self._next or self._engine()

    def run(self) -> Answers:
        self.ready()
        engine, self._next = self._next, None
        assert engine is not None
        found: list[Results] = []
        self.state_bytes = 0
        begun = perf_counter()
        for batch in self._batches:
            found.append(engine.execute(batch))
            self.state_bytes = max(self.state_bytes, engine.state_bytes())
        executed = perf_counter()
        found.append(engine.finish())
        ended = perf_counter()
        self.figures = self._told(engine, ended - begun, ended - executed)
        return joined(found)

    def _told(self, engine: Engine, seconds: float, closing: float) -> dict[str, float]:
        """`closing_seconds`: from the last event to the last result, of all windows that were open
        then. `decisions_percent`: of the time, for deciding whether to share."""
        decided = [each for group in engine.decisions() for each in group.types]
        bursts = sum(each.all for each in decided)
        told = {
            "closing_seconds": closing,
            "bursts": float(bursts),
            "snapshots": float(sum(each.snapshots for each in decided)),
            "decisions_percent": 100 * engine.decision_seconds() / seconds,
        }
        if bursts:
            told["shared_percent"] = 100 * (1 - sum(each.split for each in decided) / bursts)
        if self._planned is not None:
            told["planned_snapshots"] = self._planned
        return told

    def _engine(self) -> Engine:
        engine = Engine(self._workload, time_unit="us", **self._options)  # type: ignore[arg-type]
        engine.bind(self._schema)
        return engine


def joined(found: list[Results]) -> Answers:
    """A table with numbers beyond a double has columns for their logarithms."""
    tables: dict[str, list[pa.Table]] = {}
    for results in found:
        for name, table in results.items():
            tables.setdefault(name, []).append(table)
    return {
        name: pa.concat_tables(each, promote_options="default") for name, each in tables.items()
    }


def planned_snapshots(plan: SharingPlan, events: Mapping[str, int]) -> float:
    """How many snapshots a plan makes, as GLORIA counts them: one for each event of the type at
    which a set of queries begins to share. A set that is within another with snapshots of the same
    type goes on with those."""
    sets: dict[str, set[frozenset[str]]] = {}
    for each in plan.transitions:
        sets.setdefault(each.snapshots, set()).add(frozenset(each.queries))
    total = 0
    for type_, made in sets.items():
        total += events.get(type_, 0) * sum(not any(one < other for other in made) for one in made)
    return float(total)


def counts(table: pa.Table) -> dict[str, int]:
    """The events of each type."""
    return {
        str(each["values"]): each["counts"] for each in pc.value_counts(table["type"]).to_pylist()
    }


class Hamlet(System):
    name = "hamlet"
    about = "this engine: decides for each burst whether to share it"
    cannot = "nothing: it supports the whole language"
    sharing: ClassVar[str] = "dynamic"
    planner: ClassVar[str | None] = None

    def prepare(self, workload: Workload, table: pa.Table) -> PreparedEngine:
        chosen = None
        if self.planner is not None:
            rates = {name: float(count) for name, count in counts(table).items()}
            chosen = plan(workload.queries, self.planner, Statistics(rates)).plan
        return PreparedEngine(workload, table, self.sharing, chosen)


class Static(Hamlet):
    name = "hamlet-static"
    about = "this engine, with one decision to share everything"
    sharing = "always"


class NotShared(Hamlet):
    name = "hamlet-not-shared"
    about = "this engine, with each query in a separate run"
    planner = "none"
    sharing = "never"


class Greedy(Hamlet):
    name = "greedy"
    about = "this engine, with the plan of GLORIA's greedy optimizer"
    planner = "greedy"


class Gloria(Hamlet):
    name = "gloria"
    about = "this engine, with the plan of GLORIA's optimizer"
    planner = "gloria"


class SharonPlan(Hamlet):
    name = "sharon-plan"
    about = "this engine, with the plan of SHARON's optimizer"
    planner = "sharon"
