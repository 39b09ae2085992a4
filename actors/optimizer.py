"""The central optimizer: hears what aggregators saw and decided, and publishes numbered policies.

An aggregator adopts a policy between two epochs. Nobody waits for the optimizer: without it
aggregators go on by the policy they have.
"""

from __future__ import annotations

from dataclasses import replace

import ray

from runtime.compiled.graphlets.calibrate import calibrated
from runtime.sharing.decisions import Decisions, merged
from runtime.sharing.policy import Policy


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Optimizer:
    def __init__(self) -> None:
        self._policy: Policy | None = None
        self._reports: dict[str, tuple[int, list[Decisions]]] = {}

    def report(self, aggregator: str, epoch: int, decisions: list[Decisions]) -> None:
        """All that an aggregator has decided up to an epoch."""
        self._reports[aggregator] = epoch, decisions

    def decisions(self) -> list[Decisions]:
        """What all aggregators have decided, as far as they have told."""
        return merged(each for _, told in self._reports.values() for each in told)

    def policy(self) -> Policy:
        """The newest one. The first is what the operators cost on this machine, so that all
        aggregators decide by the same numbers."""
        if self._policy is None:
            self._policy = replace(calibrated(), version=1)
        return self._policy
