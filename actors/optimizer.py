"""The central optimizer as an actor. All it does is in `runtime.planning.central`.

Nobody waits for it: without it aggregators go on by the policy and the plan they have. A new one,
after a crash, knows nothing until it is told again what runs.
"""

from __future__ import annotations

from dataclasses import replace

import ray

from runtime.compiled.graphlets.calibrate import calibrated
from runtime.planning.background import Background
from runtime.planning.central import Central, Guidance, Replanned, Running
from runtime.planning.exported import Exported
from runtime.sharing.decisions import Decisions, merged
from runtime.sharing.seen import Seen


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Optimizer:
    def __init__(self) -> None:
        self._central: Central | None = None
        self._reports: dict[str, list[Decisions]] = {}
        self._background: Background | None = None
        self._exported: Exported | None = None

    def begin(
        self, running: Running, planner: str | None, metrics: int | None, version: int
    ) -> None:
        """`metrics` is the port for Prometheus, if any; `version` that of the policy which
        aggregators have. The first policy is what the operators cost on this machine, so that all
        of them decide by the same numbers."""
        policy = replace(calibrated(), version=version + 1)
        self._reports = {}
        self._central = Central(running, policy, planner)
        self._background = Background(self._central)
        if self._exported is not None:
            self._exported.central = self._central
        elif metrics is not None:
            self._exported = Exported(self._central, metrics)

    def changed(self, running: Running) -> None:
        """Queries came or went."""
        if self._central is not None:
            self._central.changed(running)

    def report(self, aggregator: str, decisions: list[Decisions], seen: Seen) -> None:
        """All that an aggregator has decided, and what it saw since the last time."""
        self._reports[aggregator] = decisions
        if self._central is not None and self._background is not None:
            self._central.hear(aggregator, seen)
            self._background.turn()

    def guidance(self) -> Guidance | None:
        """The newest one; None as long as nobody has said what runs."""
        return None if self._central is None else self._central.guidance

    def decisions(self) -> list[Decisions]:
        """What all aggregators have decided, as far as they have told."""
        return merged(each for told in self._reports.values() for each in told)

    def replanned(self) -> list[Replanned]:
        return [] if self._central is None else self._central.replanned
