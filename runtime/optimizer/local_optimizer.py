"""The optimizer of a single engine, in the same process."""

from __future__ import annotations

import time
from dataclasses import replace

import pyarrow as pa

from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.optimizer.optimizer import Central, Running
from runtime.optimizer.replan_thread import Background
from runtime.pipeline.engine import Engine, Results
from runtime.plan.sharing_plan import Plan

SECONDS = 0.25  # between two looks at what the engine saw


class Advisor:
    """`plan` is the one that the engine has; `planner` None: it keeps that."""

    def __init__(self, engine: Engine, plan: Plan, planner: str | None) -> None:
        policy = replace(calibrated(), version=1)
        self.central = Central(Running(engine.workload.queries, plan), policy, planner)
        self._engine = engine
        self._background = Background(self.central)
        self._plan = plan
        self._policy = policy
        self._looked = time.monotonic()

    def took(self, events: pa.RecordBatch) -> None:
        """Events go into the engine."""

    def wrote(self, results: Results) -> None:
        """What came of them is out."""
        if time.monotonic() - self._looked >= SECONDS:
            self.turn()

    def turn(self) -> None:
        self._looked = time.monotonic()
        self.central.hear("engine", self._engine.take_seen())
        self._background.turn()
        guidance = self.central.guidance
        if guidance.policy != self._policy:
            self._policy = guidance.policy
            self._engine.adopt(guidance.policy)
        if guidance.plan is not None and guidance.plan != self._plan:
            self._plan = guidance.plan
            self._engine.follow(guidance.plan)

    def settle(self) -> None:
        """Waits for the plan that is being made, if any; the next turn takes it."""
        self._background.settle()

    def close(self) -> None:
        self._background.close()
