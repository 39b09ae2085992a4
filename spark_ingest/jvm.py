"""How the Java processes of a session are started: their flags, their logs, their end."""

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

# Spark, Arrow and Ray reach into the JDK, which Java 17 allows only if asked. Without these in
# the driver, the executors *and* RayDP's master, hand-over fails or hangs.
_OPEN = (
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.math",
    "java.net",
    "java.nio",
    "java.text",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)
FLAGS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Duser.timezone=UTC",
)
# Spark's driver plans many small jobs and touches no rows: the second compiler would take more of
# a core than all that planning, for minutes.
QUICK = "-XX:TieredStopAtLevel=1"
# RayDP's two master processes only pass messages on: let them start fast and stay small.
SMALL = (QUICK, "-XX:+UseSerialGC", "-Xmx256m")
_PATIENCE_S = 10

_LOG4J = """\
status = off
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}}: %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
"""


def write_log4j(config: Path, log: Path) -> Path:
    """The settings of a log of warnings and errors."""
    config.write_text(_LOG4J.format(file=log), encoding="utf-8")
    return config


@contextmanager
def gateway_output(log: Path) -> Iterator[None]:
    """What the driver's JVM prints goes into the log, if it is started within. It ends with this
    process, and not before.

    PySpark's `launch_gateway` has an argument for the first, but its caller leaves it out.
    """
    import pyspark.context
    from pyspark import java_gateway

    with log.open("ab") as file:
        kwargs = {"stdout": file, "stderr": subprocess.STDOUT}
        launch = functools.partial(pyspark.context.launch_gateway, popen_kwargs=kwargs)
        with (
            patch.object(pyspark.context, "launch_gateway", launch),
            patch.object(java_gateway, "Popen", _deaf),
        ):
            yield


def _deaf(*arguments: Any, preexec_fn: Callable[[], object] | None = None, **options: Any) -> Any:
    """A process that SIGTERM does not reach. PySpark sees to the same for Ctrl-C.

    Whoever stops a job of Ray sends SIGTERM to all its processes at once. This one still needs
    Spark then, to finish its epochs.
    """

    def before() -> None:
        if preexec_fn is not None:
            preexec_fn()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    popen: Any = subprocess.Popen
    return popen(*arguments, preexec_fn=before, **options)


@contextmanager
def early_gateway() -> Iterator[None]:
    """The driver's JVM starts while RayDP's master does, and not only after it."""
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

    with suppress(Exception):  # the session will try again, and say what is wrong
        SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))


def end_gateway() -> None:
    """Ends the driver's JVM, which PySpark would keep for the next session of this process.

    The next one may be on another cluster, and a JVM cannot change its flags, nor Ray's token.
    """
    from pyspark import SparkContext

    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when nobody can speak to it any more
    try:
        gateway.proc.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
