"""Temporary patches of Ray internals, for behaviour that Ray has no option for.

Ray looks up each patched name at the time of the call. The names are internal and may change, so
the version is pinned, and `tests/patches` checks each against the installed Ray. If there is an
option of `ray.init` or a variable in `ENVIRONMENT`, we use that.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

# Our own hub serves the metrics. The history of calls is for the dashboard; at a hundred calls a
# second it would grow for a quarter of an hour.
ENVIRONMENT = {
    "RAY_enable_metrics_collection": "0",
    "RAY_task_events_report_interval_ms": "0",
}
# `ray.init` passes on only some parameters of `RayParams`. The monitor scales clusters up, and the
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
    """Makes Ray start only the processes that an embedded cluster needs.

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
    """Makes Ray use 127.0.0.1 as given instead of looking up the machine's address.

    This is its default on macOS and Windows, where a cluster is one machine. The variable
    RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER is read only once, when Ray is imported, and would also
    affect clusters of several machines.
    """
    from ray._private import ray_constants

    with patch.object(ray_constants, "ENABLE_RAY_CLUSTER", False):
        yield


@contextmanager
def errors_to_log() -> Iterator[None]:
    """Makes Ray report dead workers to its log, not to standard output between our results.

    `log_to_driver=False` only affects the output of workers.
    """
    from ray._private import worker

    with patch.object(worker, "print_to_stdstream", _log_lines):
        yield


@contextmanager
def no_sigterm_handler() -> Iterator[None]:
    """Stops `ray.init` from installing its handler of SIGTERM, for which it has no option.

    Its handler would replace ours while the cluster starts, and ends the process with exit code 15
    instead of 128 + 15. In a thread, where no handler can be installed, it would log a warning.
    """
    from ray._private import utils

    with patch.object(utils, "set_sigterm_handler", _do_nothing):
        yield


@contextmanager
def calls_to_java() -> Iterator[None]:
    """Lets this process call Java actors.

    Ray refuses such calls unless the process loads its code from local files. Only `ray.init` sets
    that, for a whole job, and a driver that kept it would no longer export its functions and
    classes: tasks that need them would wait forever.
    """
    from ray._private.worker import global_worker

    before = global_worker.load_code_from_local
    global_worker.set_load_code_from_local(True)
    try:
        yield
    finally:
        global_worker.set_load_code_from_local(before)


def _log_lines(data: dict[str, Any], ignore_prefix: bool) -> None:
    for line in data["lines"]:
        logging.getLogger("ray").warning("%s: %s", data["pid"], line)


def _do_nothing(*_: Any, **__: Any) -> None:
    pass
