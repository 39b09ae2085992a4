"""The places where Ray offers no option, so that we replace something inside it for a while.

Ray looks up each of these at the time of the call. They are internal and may change with any
version, hence the version is pinned, and `tests/patches` checks each against the installed Ray.
What Ray does offer is used instead: options of `ray.init` and the variables in `ENVIRONMENT`.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

# Our metrics come from our own hub. A history of calls is for the dashboard; of a hundred calls a
# second, it would grow for a quarter of an hour.
ENVIRONMENT = {
    "RAY_enable_metrics_collection": "0",
    "RAY_task_events_report_interval_ms": "0",
}
# `ray.init` passes on only some of what `RayParams` knows. The monitor scales clusters up, and the
# log monitor sends what workers print to the driver: an embedded cluster needs neither. The port
# of the node's agent is fixed by default, so that a second cluster on the machine would find it
# taken.
NODE_PARAMETERS: dict[str, Any] = {
    "no_monitor": True,
    "include_log_monitor": False,
    "dashboard_agent_listen_port": 0,
}


@contextmanager
def fewer_processes() -> Iterator[None]:
    """Ray starts only the processes that an embedded cluster needs.

    `include_dashboard=False` leaves out the pages of the dashboard, but not its process.
    """
    from ray._private import node, parameter

    parameters = functools.partial(parameter.RayParams, **NODE_PARAMETERS)
    with (
        patch.object(parameter, "RayParams", parameters),
        patch.object(node.Node, "start_api_server", _do_nothing),
    ):
        yield


@contextmanager
def loopback_only() -> Iterator[None]:
    """Ray takes 127.0.0.1 at its word instead of looking up the machine's address.

    That is what it does by default on macOS and Windows, where a cluster is one machine. The
    variable RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER is read only once, when Ray is imported, and would
    hold for clusters of several machines too.
    """
    from ray._private import ray_constants

    with patch.object(ray_constants, "ENABLE_RAY_CLUSTER", False):
        yield


@contextmanager
def errors_to_log() -> Iterator[None]:
    """Ray reports workers that die to its log, not to standard output between our results.

    `log_to_driver=False` is for what workers print; these messages come whatever it says.
    """
    from ray._private import worker

    with patch.object(worker, "print_to_stdstream", _log_lines):
        yield


@contextmanager
def no_sigterm_handler() -> Iterator[None]:
    """`ray.init` leaves SIGTERM alone, for which it otherwise installs a handler of its own."""
    from ray._private import utils

    with patch.object(utils, "set_sigterm_handler", _do_nothing):
        yield


def _log_lines(data: dict[str, Any], ignore_prefix: bool) -> None:
    for line in data["lines"]:
        logging.getLogger("ray").warning("%s: %s", data["pid"], line)


def _do_nothing(*_: Any, **__: Any) -> None:
    pass
