"""Starts the actors of a job (aggregators, routers, optimizer) and restarts them after a crash."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ray
from ray import exceptions

from actors.aggregator import Aggregator, AggregatorSetup, NotInitialized
from actors.optimizer import OptimizerActor
from actors.process_watch import WatchedActor, watched_actors
from actors.rehearsal import PendingRehearsal
from actors.router import BlockLost, CollectedBlock, Router, SparkBlock
from runtime.optimizer.optimizer import Guidance, WorkloadSnapshot
from runtime.pipeline.aggregation import EpochCommand
from runtime.pipeline.event_block import Origin
from runtime.pipeline.event_contract import EventContract
from runtime.pipeline.rehearsal import Rehearsal
from runtime.pipeline.routing_table import RoutingTable

# Ray's reference to the result of a call.
Ref = Any

# A resource that only the workers of a cluster have, if the cluster defines it.
WORKER, A_BIT = "hamlet-worker", 0.001

# The resources of an aggregator.
A_CORE = {"CPU": 1.0}

# A restart takes about two seconds, more on a busy machine.
PATIENCE_SECONDS = 120.0


class ActorPool:
    """`size` aggregators. `close` ends all actors."""

    def __init__(self, size: int, routers: int) -> None:
        self.size = size
        self.optimizer: Any = OptimizerActor.remote()  # type: ignore[attr-defined]
        self.aggregators: list[Any] = [
            Aggregator.remote()  # type: ignore[attr-defined]
            for _ in range(size)
        ]
        self.routers: list[Any] = [
            Router.options(**_router_options()).remote()  # type: ignore[attr-defined]
            for _ in range(routers)
        ]
        self._nodes: dict[int, str] = {}
        self._turn = itertools.cycle(range(routers))
        self._routing: tuple[RoutingTable, Ref] | None = None
        self._pending_guidance: Ref | None = None
        self._running: tuple[WorkloadSnapshot, str | None] | None = None
        self._version = 0

    # ---- events ----------------------------------------------------------------------------

    def set_routing(self, routing: RoutingTable) -> None:
        """Uses this routing table from the next epoch on."""
        self._routing = routing, ray.put(routing)

    @property
    def routing(self) -> tuple[RoutingTable, Ref]:
        """The routing table, and its reference for routers."""
        if self._routing is None:
            raise RuntimeError("there is no routing table yet: call set_routing")
        return self._routing

    def route(
        self,
        block: SparkBlock | CollectedBlock,
        contract: EventContract,
        origin: Origin,
        routing: Ref,
        watermark: int | None,
    ) -> list[Ref]:
        """The statistics of the block, and the portions of each aggregator."""
        router = self.routers[next(self._turn)]
        found: list[Ref] = router.route.options(num_returns=self.size + 1).remote(
            block, contract, origin, routing, watermark
        )
        return found

    def compute_epoch(self, command: EpochCommand, portions: Sequence[Sequence[Ref]]) -> list[Ref]:
        """`portions` are those of each block, in the order of arrival, for each aggregator."""
        return [
            aggregator.compute_epoch.remote(command, *(block[owner] for block in portions))
            for owner, aggregator in enumerate(self.aggregators)
        ]

    # ---- starting and restarting -----------------------------------------------------------

    def start(
        self, setup: Callable[[int], AggregatorSetup], which: Sequence[int] | None = None
    ) -> None:
        """Initializes aggregators. Waits for actors that restart."""
        self.begin_start(setup, which)()

    def begin_start(
        self, setup: Callable[[int], AggregatorSetup], which: Sequence[int] | None = None
    ) -> Callable[[], None]:
        """Initializes aggregators, all at once. The function that it returns waits for them, also
        for actors that restart: it must be called before they compute an epoch."""
        chosen = range(self.size) if which is None else which
        calls = {
            n: partial(self.aggregators[n].start.remote, ray.put(setup(n)), self.optimizer)
            for n in chosen
        }
        sent = {n: call() for n, call in calls.items()}

        def wait() -> None:
            self._nodes |= {n: _get_patiently(calls[n], sent[n]) for n in calls}

        return wait

    def uninitialized(self) -> list[int]:
        """The aggregators without state, as after a crash. Waits until all answer."""
        numbers = range(self.size)
        return [n for n in numbers if not _get_patiently(self.aggregators[n].is_initialized.remote)]

    def rehearse(self, rehearsal: Rehearsal) -> PendingRehearsal:
        """Compiles what a change needs on the machines of the aggregators. Does not block."""
        return PendingRehearsal(rehearsal, self._nodes.values())

    # ---- the optimizer ---------------------------------------------------------------------

    def start_optimizer(self, running: WorkloadSnapshot, planner: str | None) -> None:
        """Starts the optimizer with a workload. After a crash, a new one starts with it again."""
        self._running = running, planner
        self._version = 0
        self._pending_guidance = None  # a pending answer is for another workload
        self.optimizer.start.remote(*self._running, self._version)

    def set_restart_workload(self, running: WorkloadSnapshot) -> None:
        """Sets the workload with which a new optimizer starts."""
        if self._running is not None:
            self._running = running, *self._running[1:]

    def change_workload(self, running: WorkloadSnapshot) -> None:
        """Sends a changed workload to the optimizer."""
        self.set_restart_workload(running)
        self.optimizer.change_workload.remote(running)

    def guidance(self) -> Guidance | None:
        """The optimizer's newest guidance, if it has answered. Does not block."""
        if self._pending_guidance is None:
            self._pending_guidance = self.optimizer.guidance.remote()
            return None
        if not ray.wait([self._pending_guidance], timeout=0)[0]:
            return None
        pending, self._pending_guidance = self._pending_guidance, None
        try:
            found: Any = ray.get(pending)
        except exceptions.RayError:
            return None
        if found is not None:
            self._version = found.policy.version
        elif self._running is not None:
            self.optimizer.start.remote(*self._running, self._version)
        return found

    @property
    def watched(self) -> list[WatchedActor]:
        return [
            *watched_actors("aggregator", self.aggregators),
            *watched_actors("router", self.routers),
            *watched_actors("optimizer", [self.optimizer]),
        ]

    def close(self) -> None:
        for actor in (*self.aggregators, *self.routers, self.optimizer):
            ray.kill(actor)


def _router_options() -> dict[str, Any]:
    """Ray options of a router. It requests no core, so that a job fits the cores that it names, but
    it should run on a worker: the head may have no cores. Ray treats this as a preference, so the
    pool is created only after workers have joined (`placement`)."""
    return {"resources": {WORKER: A_BIT}} if WORKER in ray.cluster_resources() else {}


def _get_patiently(call: Callable[[], Ref], sent: Ref | None = None) -> Any:
    """Repeats a call until an actor that restarts answers. It may have been `sent` already."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            ref, sent = call() if sent is None else sent, None
            return ray.get(ref)
        except Exception as error:
            if not (is_crash(error) or is_loss(error)) or time.monotonic() > until:
                raise
            time.sleep(0.1)


# A process or a machine is gone or unreachable, and its work is lost.
_CRASHES = (
    exceptions.RayActorError,
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.OutOfMemoryError,
    exceptions.RpcError,
    NotInitialized,
    ConnectionError,
)
# Rows in transit are lost.
_LOSSES = (exceptions.ObjectLostError, BlockLost)


def cause(error: BaseException) -> BaseException:
    """The exception of an actor, or of one that it waited for, without Ray's wrapping."""
    while isinstance(error, exceptions.RayTaskError) and error.cause is not None:
        error = error.cause
    return error


def is_crash(error: BaseException) -> bool:
    """Whether a process died, or is new and without state, so that the work can be repeated."""
    return isinstance(cause(error), _CRASHES)


def is_loss(error: BaseException) -> bool:
    """Whether rows are lost and must be read again."""
    return isinstance(cause(error), _LOSSES)
