"""The actors of a job: aggregators, routers and the optimizer; begun, and begun again where one
died."""

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
from actors.router import BlockLost, CollectedBlock, Router, SparkBlock
from runtime.io.decode import Decoder, Origin
from runtime.optimizer.optimizer import Guidance, WorkloadSnapshot
from runtime.pipeline.aggregation import EpochCommand
from runtime.pipeline.routing_table import RoutingTable

# Ray's reference to what a call will give.
Ref = Any

# The resource that tells workers of a cluster from its head, if it has it.
WORKER, A_BIT = "hamlet-worker", 0.001

# What an aggregator asks for.
A_CORE = {"CPU": 1.0}

# A restart takes about two seconds, on a busy machine some more.
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
            Router.options(**_of_a_router()).remote()  # type: ignore[attr-defined]
            for _ in range(routers)
        ]
        self._turn = itertools.cycle(range(routers))
        self._routing: Ref | None = None
        self._asked: Ref | None = None
        self._running: tuple[WorkloadSnapshot, str | None] | None = None
        self._version = 0

    # ---- events ----------------------------------------------------------------------------

    def set_routing(self, routing: RoutingTable) -> None:
        """Routes by this from the next block on."""
        self._routing = ray.put(routing)

    def route(
        self,
        block: SparkBlock | CollectedBlock,
        decoder: Decoder,
        origin: Origin,
        watermark: int | None,
    ) -> list[Ref]:
        """What is told of the block, and the portions of each aggregator."""
        router = self.routers[next(self._turn)]
        found: list[Ref] = router.route.options(num_returns=self.size + 1).remote(
            block, decoder, origin, self._routing, watermark
        )
        return found

    def take(self, order: EpochCommand, portions: Sequence[Sequence[Ref]]) -> list[Ref]:
        """`portions` of each block, in the order in which they arrived, for each aggregator."""
        return [
            aggregator.take.remote(order, *(block[owner] for block in portions))
            for owner, aggregator in enumerate(self.aggregators)
        ]

    # ---- begin, and begin again ------------------------------------------------------------

    def begin(
        self, begin: Callable[[int], AggregatorSetup], which: Sequence[int] | None = None
    ) -> list[int]:
        """Gives the numbers of their processes. Waits for an actor that is being restarted."""
        chosen = range(self.size) if which is None else which
        calls = [
            partial(self.aggregators[n].begin.remote, ray.put(begin(n)), self.optimizer)
            for n in chosen
        ]
        return [_patiently(call) for call in calls]

    def new(self) -> list[int]:
        """Aggregators that have not begun, as after a crash. Waits until all are there."""
        numbers = range(self.size)
        return [n for n in numbers if not _patiently(self.aggregators[n].begun.remote)]

    # ---- the optimizer ---------------------------------------------------------------------

    def optimize(self, running: WorkloadSnapshot, planner: str | None) -> None:
        """Tells the optimizer what runs. A new one, after a crash, is told again."""
        self._running = running, planner
        self._version = 0
        self._asked = None  # whatever it answers is about another job
        self.optimizer.begin.remote(*self._running, self._version)

    def remember(self, running: WorkloadSnapshot) -> None:
        """What a new optimizer is to be told."""
        if self._running is not None:
            self._running = running, *self._running[1:]

    def changed(self, running: WorkloadSnapshot) -> None:
        """Queries came or went."""
        self.remember(running)
        self.optimizer.changed.remote(running)

    def guidance(self) -> Guidance | None:
        """The optimizer's newest guidance, once it has answered. Nobody waits for it."""
        if self._asked is None:
            self._asked = self.optimizer.guidance.remote()
            return None
        if not ray.wait([self._asked], timeout=0)[0]:
            return None
        asked, self._asked = self._asked, None
        try:
            found: Any = ray.get(asked)
        except exceptions.RayError:
            return None
        if found is not None:
            self._version = found.policy.version
        elif self._running is not None:
            self.optimizer.begin.remote(*self._running, self._version)
        return found

    def close(self) -> None:
        for actor in (*self.aggregators, *self.routers, self.optimizer):
            ray.kill(actor)


def _of_a_router() -> dict[str, Any]:
    """Routers ask for no core, so that a job fits the cores that it names. A head without cores is
    no place for the rows of a stream, either; but Ray keeps to nodes that are named only as far as
    it likes. Whoever makes a crew has waited for workers (`room`)."""
    return {"resources": {WORKER: A_BIT}} if WORKER in ray.cluster_resources() else {}


def _patiently(call: Callable[[], Ref]) -> Any:
    """Until an actor that is being restarted answers."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ray.get(call())
        except Exception as error:
            if not (is_crash(error) or is_loss(error)) or time.monotonic() > until:
                raise
            time.sleep(0.1)


# A process or a machine is gone, or out of reach, and with it what it was doing.
_CRASHES = (
    exceptions.RayActorError,
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.OutOfMemoryError,
    exceptions.RpcError,
    NotInitialized,
    ConnectionError,
)
# Rows that were on their way are gone.
_LOSSES = (exceptions.ObjectLostError, BlockLost)


def cause(error: BaseException) -> BaseException:
    """What was raised in an actor, or in one that it waited for, without Ray's wrapping."""
    while isinstance(error, exceptions.RayTaskError) and error.cause is not None:
        error = error.cause
    return error


def is_crash(error: BaseException) -> bool:
    """Whether a process died, or is new and knows nothing, and the work can be done again."""
    return isinstance(cause(error), _CRASHES)


def is_loss(error: BaseException) -> bool:
    """Whether rows are lost that must be read again."""
    return isinstance(cause(error), _LOSSES)
