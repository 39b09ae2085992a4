"""The metrics server as an actor; `runtime.metrics.http_server` does the work.

After a crash a new one serves on the same port. It is complete again with the next snapshot, since
snapshots hold totals.
"""

from __future__ import annotations

from typing import Any

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from runtime.metrics import http_server
from runtime.metrics.snapshot import MetricsSnapshot


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class MetricsHubActor:
    def __init__(self) -> None:
        self._hub: http_server.MetricsServer | None = None

    def begin(self, port: int, host: str) -> str:
        """Gives its address."""
        if self._hub is None:
            self._hub = http_server.MetricsServer(port, host)
        return self._hub.url

    def update(self, port: int, host: str, snapshot: MetricsSnapshot) -> None:
        self.begin(port, host)
        assert self._hub is not None
        self._hub.update(snapshot)


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

    def update(self, snapshot: MetricsSnapshot) -> None:
        """Nobody waits for it."""
        self._actor.update.remote(self._port, self._host, snapshot)

    def close(self) -> None:
        ray.kill(self._actor)
