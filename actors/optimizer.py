"""Runs the central optimizer as an actor; `runtime.optimizer.optimizer` does the work.

Nothing waits for it: without it aggregators keep their policy and plan. After a crash, a new one
is empty until `start`.
"""

from __future__ import annotations

from dataclasses import replace

import ray

from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.optimizer.model_report import Replan
from runtime.optimizer.optimizer import Guidance, Optimizer, WorkloadSnapshot
from runtime.optimizer.replan_thread import ReplanThread
from runtime.plan.observations import Observations


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class OptimizerActor:
    def __init__(self) -> None:
        self._optimizer: Optimizer | None = None
        self._replan_thread: ReplanThread | None = None

    def start(self, running: WorkloadSnapshot, planner: str | None, version: int) -> None:
        """`version` is that of the aggregators' policy. The first policy has the operators' costs
        on this machine, so that all aggregators decide by the same coefficients."""
        policy = replace(calibrated(), version=version + 1)
        self._optimizer = Optimizer(running, policy, planner)
        self._replan_thread = ReplanThread(self._optimizer)

    def change_workload(self, running: WorkloadSnapshot) -> None:
        """Sets a changed workload."""
        if self._optimizer is not None:
            self._optimizer.set_workload(running)

    def report(self, aggregator: str, observations: Observations) -> None:
        """Adds the observations of an aggregator since its last report."""
        if self._optimizer is not None and self._replan_thread is not None:
            self._optimizer.observe(aggregator, observations)
            self._replan_thread.poll()

    def guidance(self) -> Guidance | None:
        """The newest guidance; None before `start`."""
        return None if self._optimizer is None else self._optimizer.guidance

    def replanned(self) -> list[Replan]:
        return [] if self._optimizer is None else list(self._optimizer.replanned)
