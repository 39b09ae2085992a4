"""Hamlet's own engine, as one of the systems: with plans and sharing of several kinds."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.baselines.system import Answers, Prepared, System
from runtime.engine import Engine, Results
from runtime.language.query import Workload
from runtime.planning.planner import plan
from runtime.planning.statistics import Statistics
from runtime.sharing.plan import Plan

BATCH_ROWS = 1_048_576


class Running(Prepared):
    """An engine cannot begin anew, so each run has one of its own, made before it is timed."""

    def __init__(self, workload: Workload, table: pa.Table, sharing: str, plan: Plan | None):
        self._workload = workload
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
        for batch in self._batches:
            found.append(engine.execute(batch))
            self.state_bytes = max(self.state_bytes, engine.state_bytes())
        found.append(engine.finish())
        return joined(found)

    def _engine(self) -> Engine:
        engine = Engine(self._workload, time_unit="us", **self._options)  # type: ignore[arg-type]
        engine.bind(self._schema)
        return engine


def joined(found: list[Results]) -> Answers:
    tables: dict[str, list[pa.Table]] = {}
    for results in found:
        for name, table in results.items():
            tables.setdefault(name, []).append(table)
    return {name: pa.concat_tables(each) for name, each in tables.items()}


class Hamlet(System):
    name = "hamlet"
    about = "this engine: bursts are shared or not, as is decided for each"
    cannot = "nothing of the language"
    sharing: ClassVar[str] = "dynamic"
    planner: ClassVar[str | None] = None

    def prepare(self, workload: Workload, table: pa.Table) -> Running:
        chosen = None
        if self.planner is not None:
            counts = pc.value_counts(table["type"]).to_pylist()
            rates = {str(each["values"]): float(each["counts"]) for each in counts}
            chosen = plan(workload.queries, self.planner, Statistics(rates)).plan
        return Running(workload, table, self.sharing, chosen)


class Static(Hamlet):
    name = "hamlet-static"
    about = "this engine, with the decision to share taken once and for all"
    sharing = "always"


class NotShared(Hamlet):
    name = "hamlet-not-shared"
    about = "this engine, with each query in a run by itself"
    planner = "none"
    sharing = "never"


class Greedy(Hamlet):
    name = "greedy"
    about = "this engine, by the plan of GLORIA's greedy optimizer"
    planner = "greedy"


class Gloria(Hamlet):
    name = "gloria"
    about = "this engine, by the plan of GLORIA's optimizer"
    planner = "gloria"


class SharonPlan(Hamlet):
    name = "sharon-plan"
    about = "this engine, by the plan of SHARON's optimizer"
    planner = "sharon"
