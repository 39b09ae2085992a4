"""Runs the metrics server as an actor; `runtime.metrics.http_server` does the work.

After a crash a new one uses the same port. The next snapshot completes it, since snapshots have
totals.
"""

from __future__ import annotations

from typing import Any

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.process_watch import WatchedActor, watched_actors
from runtime.metrics import http_server
from runtime.metrics.snapshot import MetricsSnapshot


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class MetricsHubActor:
    def __init__(self) -> None:
        self._hub: http_server.MetricsServer | None = None

    def start(self, port: int, host: str) -> str:
        """Starts the server and returns its address."""
        if self._hub is None:
            self._hub = http_server.MetricsServer(port, host)
        return self._hub.url

    def update(self, port: int, host: str, snapshot: MetricsSnapshot) -> None:
        self.start(port, host)
        assert self._hub is not None
        self._hub.update(snapshot)


class MetricsHub:
    """Runs on the machine of the driver, so that its user can reach the loopback device."""

    def __init__(self, port: int, host: str) -> None:
        here = ray.get_runtime_context().get_node_id()
        affinity = NodeAffinitySchedulingStrategy(here, soft=True)
        self._actor: Any = MetricsHubActor.options(scheduling_strategy=affinity).remote()  # type: ignore[attr-defined]
        self._host = host
        try:
            self.url: str = ray.get(self._actor.start.remote(port, host))
        except exceptions.RayTaskError as error:
            self.close()
            raise error.cause from error
        self._port = int(self.url.rpartition(":")[2])

    def update(self, snapshot: MetricsSnapshot) -> None:
        """Sends a snapshot without waiting."""
        self._actor.update.remote(self._port, self._host, snapshot)

    @property
    def watched(self) -> list[WatchedActor]:
        return watched_actors("hub", [self._actor])

    def close(self) -> None:
        ray.kill(self._actor)
