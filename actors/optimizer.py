"""The central optimizer: hears what aggregators saw and decided, and publishes numbered policies.

An aggregator adopts a policy between two epochs. Nobody waits for the optimizer: without it
aggregators go on by the policy they have.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import ray

from runtime.compiled.graphlets.calibrate import calibrated
from runtime.sharing.decisions import Decisions
from runtime.sharing.policy import Policy


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Optimizer:
    def __init__(self) -> None:
        self._policy: Policy | None = None
        self._seen: Counter[str] = Counter()

    def report(self, epoch: int, decisions: list[Decisions]) -> None:
        for group in decisions:
            for each in group.types:
                for kind in ("shared", "split", "merged", "continued"):
                    self._seen[kind] = max(self._seen[kind], getattr(each, kind))

    def policy(self) -> Policy:
        """The newest one. The first is what the operators cost on this machine, so that all
        aggregators decide by the same numbers."""
        if self._policy is None:
            self._policy = replace(calibrated(), version=1)
        return self._policy
