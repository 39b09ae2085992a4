"""The central optimizer as an actor. All it does is in `runtime.optimizer.optimizer`.

Nobody waits for it: without it aggregators go on by the policy and the plan they have. A new one,
after a crash, knows nothing until it is told again what runs.
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

    def begin(self, running: WorkloadSnapshot, planner: str | None, version: int) -> None:
        """`version` is that of the policy which aggregators have. The first policy is what the
        operators cost on this machine, so that all of them decide by the same numbers."""
        policy = replace(calibrated(), version=version + 1)
        self._optimizer = Optimizer(running, policy, planner)
        self._replan_thread = ReplanThread(self._optimizer)

    def changed(self, running: WorkloadSnapshot) -> None:
        """Queries came or went."""
        if self._optimizer is not None:
            self._optimizer.set_workload(running)

    def report(self, aggregator: str, seen: Observations) -> None:
        """What an aggregator saw since the last time."""
        if self._optimizer is not None and self._replan_thread is not None:
            self._optimizer.observe(aggregator, seen)
            self._replan_thread.poll()

    def guidance(self) -> Guidance | None:
        """The newest one; None as long as nobody has said what runs."""
        return None if self._optimizer is None else self._optimizer.guidance

    def replanned(self) -> list[Replan]:
        return [] if self._optimizer is None else list(self._optimizer.replanned)
