"""Runs the optimizer of a single engine in the same process."""

from __future__ import annotations

import time
from dataclasses import replace

import pyarrow as pa

from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.optimizer.optimizer import Optimizer, WorkloadSnapshot
from runtime.optimizer.replan_thread import ReplanThread
from runtime.pipeline.engine import Engine, Results
from runtime.plan.sharing_plan import SharingPlan

SECONDS = 0.25  # between two reports of the engine


class LocalOptimizer:
    """`plan` is the current plan of the engine; with `planner` None the engine keeps it."""

    def __init__(self, engine: Engine, plan: SharingPlan, planner: str | None) -> None:
        policy = replace(calibrated(), version=1)
        self.optimizer = Optimizer(WorkloadSnapshot(engine.workload.queries, plan), policy, planner)
        self._engine = engine
        self._replan_thread = ReplanThread(self.optimizer)
        self._plan = plan
        self._policy = policy
        self._looked = time.monotonic()

    def before_events(self, events: pa.RecordBatch) -> None:
        """Events were given to the engine."""

    def after_results(self, results: Results) -> None:
        """Results were written."""
        if time.monotonic() - self._looked >= SECONDS:
            self.update()

    def update(self) -> None:
        """Reports to the optimizer, and gives its policy and plan to the engine if they are new."""
        self._looked = time.monotonic()
        self.optimizer.observe("engine", self._engine.take_observations())
        self._replan_thread.poll()
        guidance = self.optimizer.guidance
        if guidance.policy != self._policy:
            self._policy = guidance.policy
            self._engine.set_policy(guidance.policy)
        if guidance.plan is not None and guidance.plan != self._plan:
            self._plan = guidance.plan
            self._engine.set_plan(guidance.plan)

    def close(self) -> None:
        self._replan_thread.close()
