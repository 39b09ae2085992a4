"""What an embedded Ray does without, and what it may listen to.

`ray.init` has no argument for these, so what it looks up in its own modules is replaced while it
runs. All of it is looked up at the time of the call, and the version of Ray is pinned.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

# Not for us: the monitor scales clusters up, the log monitor sends what workers print to the
# driver, and the API server is the dashboard. The port of the node's agent is fixed by default,
# so that a second cluster on the machine would find it taken.
_WITHOUT: dict[str, Any] = {
    "no_monitor": True,
    "include_log_monitor": False,
    "dashboard_agent_listen_port": 0,
}
# Our metrics come from our own hub. A history of calls is for the dashboard; of a hundred calls a
# second, it would grow for a quarter of an hour.
ENVIRONMENT = {
    "RAY_enable_metrics_collection": "0",
    "RAY_task_events_report_interval_ms": "0",
}


@contextmanager
def lean() -> Iterator[None]:
    """Ray starts only the processes that an embedded cluster needs."""
    from ray._private import node, parameter

    params = functools.partial(parameter.RayParams, **_WITHOUT)
    with (
        patch.object(parameter, "RayParams", params),
        patch.object(node.Node, "start_api_server", _nothing),
    ):
        yield


@contextmanager
def loopback() -> Iterator[None]:
    """Ray takes 127.0.0.1 at its word instead of looking up the machine's address.

    That is what it does by default on macOS and Windows, where a cluster is one machine.
    """
    from ray._private import ray_constants

    with patch.object(ray_constants, "ENABLE_RAY_CLUSTER", False):
        yield


def _nothing(*_: Any, **__: Any) -> None:
    pass
