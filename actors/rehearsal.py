"""Rehearses a change of queries on every machine that has aggregators, while the job goes on.

Nothing may wait for a rehearsal forever: a change that is asked for has to be answered. The
watchdog kills a process that is stopped, and one that takes too long is given up.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.process_watch import ActorTable, WatchedActor
from runtime.errors import EnvironmentFailure
from runtime.execution.compile_worker import compile_turn
from runtime.pipeline.rehearsal import Rehearsal

# A user waits for it, but the stream goes first.
NICENESS = 5
# It takes a minute or two on a busy machine.
LIMIT_SECONDS = 600.0


# A process of its own for each rehearsal: it keeps neither the niceness nor the memory. An actor,
# and not a task, since Ray's table of actors has its process id.
@ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)
class RehearsalActor:
    def rehearse(self, rehearsal: Rehearsal) -> None:
        with compile_turn(NICENESS):
            rehearsal.run()


class PendingRehearsal:
    def __init__(self, rehearsal: Rehearsal, nodes: Iterable[str]) -> None:
        """`nodes` are Ray's ids of the machines."""
        sent = ray.put(rehearsal)
        self._actors: list[Any] = [
            RehearsalActor.options(  # type: ignore[attr-defined]
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True)
            ).remote()
            for node in sorted(set(nodes))
        ]
        self._calls: list[Any] = [actor.rehearse.remote(sent) for actor in self._actors]
        self._until = time.monotonic() + LIMIT_SECONDS

    def is_done(self) -> bool:
        """Also if it takes too long. Does not block."""
        return self._has_ended() or time.monotonic() > self._until

    def result(self) -> None:
        """Raises what a rehearsal raised."""
        ended = self._has_ended()
        try:
            if not ended:
                raise EnvironmentFailure(
                    f"its rehearsal has not ended after {LIMIT_SECONDS:g} s",
                    "the job is unchanged; is the machine too busy to compile?",
                )
            ray.get(self._calls)
        finally:
            self.cancel()

    def cancel(self) -> None:
        for actor in self._actors:
            ray.kill(actor)

    def _has_ended(self) -> bool:
        return not ray.wait(self._calls, num_returns=len(self._calls), timeout=0)[1]


def rehearsals(table: ActorTable) -> list[WatchedActor]:
    """Those under way. The job goes on without one that is lost: its change is refused."""
    return [
        WatchedActor("rehearsal", "the rehearsal of a change", id, restartable=False, needed=False)
        for id, entry in table.items()
        if entry["ActorClassName"] == "RehearsalActor" and entry["State"] != "DEAD"
    ]
