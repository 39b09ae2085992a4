"""The metrics hub as an actor. All it does is in `runtime.metrics.http_server`.

A new one, after a crash, serves on the same port again and knows all when it hears the next facts:
they are totals.
"""

from __future__ import annotations

from typing import Any

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from runtime.metrics import http_server
from runtime.metrics.snapshot import Facts


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class MetricsHubActor:
    def __init__(self) -> None:
        self._hub: http_server.Hub | None = None

    def begin(self, port: int, host: str) -> str:
        """Gives its address."""
        if self._hub is None:
            self._hub = http_server.Hub(port, host)
        return self._hub.url

    def tell(self, port: int, host: str, facts: Facts) -> None:
        self.begin(port, host)
        assert self._hub is not None
        self._hub.tell(facts)


class MetricsHub:
    """On the machine of the driver, whose loopback device its user can reach."""

    def __init__(self, port: int, host: str) -> None:
        here = ray.get_runtime_context().get_node_id()
        affinity = NodeAffinitySchedulingStrategy(here, soft=True)
        self._actor: Any = MetricsHubActor.options(scheduling_strategy=affinity).remote()  # type: ignore[attr-defined]
        self._host = host
        try:
            self.url: str = ray.get(self._actor.begin.remote(port, host))
        except exceptions.RayTaskError as error:
            self.close()
            raise error.cause from error
        self._port = int(self.url.rpartition(":")[2])

    def tell(self, facts: Facts) -> None:
        """Nobody waits for it."""
        self._actor.tell.remote(self._port, self._host, facts)

    def close(self) -> None:
        ray.kill(self._actor)
