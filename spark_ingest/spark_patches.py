"""Patches of PySpark and RayDP internals, for behaviour that they have no option for.

Each patched name is looked up at the time of the call. They are internal, so the versions are
pinned, and `tests/patches` checks each against the installed packages.
"""

from __future__ import annotations

import functools
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def gateway_output(log: Path) -> Iterator[None]:
    """Inside, the driver's JVM is started so that its output goes to the log and SIGTERM does not
    end it.

    PySpark's `launch_gateway` has an argument for the output, but its caller omits it, and it
    overwrites the `preexec_fn` that could ignore the signal.
    """
    import pyspark.context
    from pyspark import java_gateway

    with log.open("ab") as file:
        kwargs = {"stdout": file, "stderr": subprocess.STDOUT}
        launch = functools.partial(pyspark.context.launch_gateway, popen_kwargs=kwargs)
        with (
            patch.object(pyspark.context, "launch_gateway", launch),
            patch.object(java_gateway, "Popen", _ignoring_sigterm),
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
def early_gateway() -> Iterator[None]:
    """Starts the driver's JVM at the same time as RayDP's master instead of after it.

    RayDP starts both in one call, one after the other; this saves some seconds of every start.
    """
    from raydp.spark.ray_cluster import SparkCluster

    set_up = SparkCluster._set_up_master

    def both(cluster: Any, *arguments: Any, **options: Any) -> None:
        driver = threading.Thread(target=_launch, args=(dict(cluster._configs),), daemon=True)
        driver.start()
        set_up(cluster, *arguments, **options)
        driver.join()

    with patch.object(SparkCluster, "_set_up_master", both):
        yield


def _launch(settings: dict[str, str]) -> None:
    from pyspark import SparkConf, SparkContext

    with suppress(Exception):  # the session tries again and reports the error
        SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))
