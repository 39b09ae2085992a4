"""The central optimizer as an actor. All it does is in `runtime.optimizer.optimizer`.

Nobody waits for it: without it aggregators go on by the policy and the plan they have. A new one,
after a crash, knows nothing until it is told again what runs.
"""

from __future__ import annotations

from dataclasses import replace

import ray

from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.optimizer.model_report import Replan
from runtime.optimizer.optimizer import Central, Guidance, Running
from runtime.optimizer.replan_thread import Background
from runtime.plan.observations import Seen


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Optimizer:
    def __init__(self) -> None:
        self._central: Central | None = None
        self._background: Background | None = None

    def begin(self, running: Running, planner: str | None, version: int) -> None:
        """`version` is that of the policy which aggregators have. The first policy is what the
        operators cost on this machine, so that all of them decide by the same numbers."""
        policy = replace(calibrated(), version=version + 1)
        self._central = Central(running, policy, planner)
        self._background = Background(self._central)

    def changed(self, running: Running) -> None:
        """Queries came or went."""
        if self._central is not None:
            self._central.changed(running)

    def report(self, aggregator: str, seen: Seen) -> None:
        """What an aggregator saw since the last time."""
        if self._central is not None and self._background is not None:
            self._central.hear(aggregator, seen)
            self._background.turn()

    def guidance(self) -> Guidance | None:
        """The newest one; None as long as nobody has said what runs."""
        return None if self._central is None else self._central.guidance

    def replanned(self) -> list[Replan]:
        return [] if self._central is None else list(self._central.replanned)
