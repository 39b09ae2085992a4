"""Patches of PySpark and RayDP internals, for behaviour that they have no option for.

Each patched name is looked up at the time of the call. They are internal, so the versions are
pinned, and `tests/patches` checks each against the installed packages.
"""

from __future__ import annotations

import functools
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch


class Size(Protocol):
    """The resources of the executors of a session."""

    @property
    def executors(self) -> int: ...

    @property
    def cores(self) -> int: ...

    @property
    def memory(self) -> str: ...


#: Called with the process of a JVM as soon as there is one.
Started = Callable[[Any], None]


@contextmanager
def gateway_output(log: Path, started: Started = lambda process: None) -> Iterator[None]:
    """Inside, the driver's JVM is started so that its output goes to the log and SIGTERM does not
    end it. `started` gets its process long before PySpark returns.

    PySpark's `launch_gateway` has an argument for the output, but its caller omits it, and it
    overwrites the `preexec_fn` that could ignore the signal.
    """
    import pyspark.context
    from pyspark import java_gateway

    def popen(*arguments: Any, **options: Any) -> Any:
        process = _ignoring_sigterm(*arguments, **options)
        started(process)
        return process

    with log.open("ab") as file:
        kwargs = {"stdout": file, "stderr": subprocess.STDOUT}
        launch = functools.partial(pyspark.context.launch_gateway, popen_kwargs=kwargs)
        with (
            patch.object(pyspark.context, "launch_gateway", launch),
            patch.object(java_gateway, "Popen", popen),
        ):
            yield


def _ignoring_sigterm(
    *arguments: Any, preexec_fn: Callable[[], object] | None = None, **options: Any
) -> Any:
    """Starts a process that ignores SIGTERM, as PySpark's ignores Ctrl-C.

    Ray stops a job by sending SIGTERM to all its processes at once. The driver still needs Spark
    then, to finish its epochs.
    """

    def before() -> None:
        if preexec_fn is not None:
            preexec_fn()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    popen: Any = subprocess.Popen
    return popen(*arguments, preexec_fn=before, **options)


@contextmanager
def after_master(callback: Callable[[], object]) -> Iterator[None]:
    """Inside, RayDP calls `callback` when its master runs, before it looks for the driver's JVM.

    RayDP starts both in one call, one after the other, and PySpark takes a JVM that runs already.
    """
    from raydp.spark.ray_cluster import SparkCluster

    set_up = SparkCluster._set_up_master

    def then(cluster: Any, *arguments: Any, **options: Any) -> None:
        set_up(cluster, *arguments, **options)
        callback()

    with patch.object(SparkCluster, "_set_up_master", then):
        yield


def completed_settings(size: Size, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with those that RayDP adds: the class path and the flags of the driver.

    RayDP completes them when it starts its master. The driver's JVM is started before that, and
    Ray need not run yet.
    """
    from raydp.spark.ray_cluster import SparkCluster

    cluster: Any = SparkCluster.__new__(SparkCluster)
    cluster._configs = dict(settings)
    cluster._num_executors, cluster._executor_cores = size.executors, size.cores
    cluster._executor_memory = size.memory
    cluster._prepare_spark_configs()
    found: dict[str, str] = cluster._configs
    return found
