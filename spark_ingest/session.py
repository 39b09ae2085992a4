"""Starts and stops the Spark session of a run on a Ray cluster, through RayDP."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from actors.cluster import LOOPBACK, Cluster
from actors.health import died, way_on
from runtime.errors import EnvironmentFailure
from spark_ingest import executors, java, jvm
from spark_ingest.spark_patches import early_gateway, gateway_output
from spark_ingest.spark_watch import SparkDriver
from spark_ingest.sql_settings import sql_settings

NAME = "hamlet"
LIMIT_S = 180


@dataclass(frozen=True)
class SparkSize:
    """The resources of a session, and the number of shuffle partitions.

    The number of partitions must not change while a checkpoint is in use.
    """

    executors: int = 1
    cores: int = 2
    memory: str = "1g"
    driver_memory: str = "1g"
    partitions: int = 2

    def of_an_executor(self) -> dict[str, float]:
        """The resources that RayDP requests from Ray. Spark reports memory that it cannot parse."""
        from raydp.utils import parse_memory_size

        found: dict[str, float] = {"CPU": self.cores}
        with suppress(KeyError, ValueError):
            found["memory"] = parse_memory_size(self.memory)
        return found


def environment(embedded: bool) -> dict[str, str]:
    """The environment variables that a cluster needs for Spark, for `actors.cluster`."""
    values = {
        **java.environment(),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),  # otherwise RayDP may use another Spark
    }
    return values | ({"SPARK_LOCAL_IP": LOOPBACK} if embedded else {})


def start(
    cluster: Cluster,
    size: SparkSize | None = None,
    *,
    jars: Sequence[Path] = (),
    settings: dict[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> SparkSession:
    """Starts a Spark session whose executors are actors of the cluster, and waits for them.

    The cluster stops the session when it closes, if it still runs. It must have been started, or
    connected to, with our `environment`.

    `jars` are put on the class path of driver and executors; on a cluster of several machines
    they must be at the same path on each. RayDP repeats `settings` on command lines: no secrets.
    """
    size = size or SparkSize()
    cluster.before_close(stop)
    attempt = _Attempt(cluster, size, _settings(cluster, size, jars) | (settings or {}))
    session = attempt.wait(limit_s)
    cluster.before_close(executors.ExecutorMonitor(session, size.executors).stop)
    return session


def check(cluster: Cluster) -> None:
    """Raises an error if the driver's JVM has died: nothing restarts it."""
    pid = jvm.ended()
    if pid is not None:
        raise EnvironmentFailure(died(SparkDriver.what, pid), way_on(cluster.logs))


def stop() -> None:
    """Ends the session and its Java processes. Without a session it does nothing. It does
    not wait for a session that is still starting: that one ends with Ray."""
    from raydp import context

    starting = not context._spark_context_lock.acquire(blocking=False)
    try:
        # The session is gone; the caller may have an error of its own to report.
        with suppress(Exception):
            if not starting:
                context.stop_spark()
    finally:
        if not starting:
            context._spark_context_lock.release()
        jvm.end_gateway()


class _Attempt:
    """Starts the session in its own thread, since RayDP waits forever for missing resources."""

    def __init__(self, cluster: Cluster, size: SparkSize, settings: dict[str, str]) -> None:
        self._logs = cluster.logs
        self._size = size
        self._settings = settings
        self._session: SparkSession | None = None
        self._error: BaseException | None = None
        self._given_up = False

    def wait(self, limit_s: float) -> SparkSession:
        thread = threading.Thread(target=self._run, name="spark-start", daemon=True)
        thread.start()
        thread.join(limit_s)
        self._given_up = True
        if self._session is not None:
            return self._session
        said = f"not within {limit_s:g} s" if self._error is None else _first_line(self._error)
        raise EnvironmentFailure(f"Spark did not start: {said}", f"the logs are in {self._logs}")

    def _run(self) -> None:
        import raydp

        size = self._size
        if self._given_up:  # Ray may have ended, and RayDP would start another one
            return
        try:
            with gateway_output(self._logs / "spark-driver.out"), early_gateway():
                session = raydp.init_spark(
                    NAME, size.executors, size.cores, size.memory, configs=self._settings
                )
            self._await_executors(session)
            self._session = session
        except BaseException as error:
            self._error = error

    def _await_executors(self, session: SparkSession) -> None:
        while executors.count(session) < self._size.executors and not self._given_up:
            time.sleep(0.05)


def _settings(cluster: Cluster, size: SparkSize, jars: Sequence[Path]) -> dict[str, str]:
    log4j = jvm.write_log4j(cluster.folder / "log4j2.properties", cluster.logs / "spark-driver.log")
    flags = " ".join(jvm.FLAGS)
    settings = {
        **sql_settings(cluster.folder),
        "spark.driver.extraJavaOptions": f"{flags} {jvm.QUICK} -Dray.logging.dir={cluster.logs}",
        "spark.executor.extraJavaOptions": flags,
        "spark.ray.raydp_app_master.extraJavaOptions": f"{flags} {' '.join(jvm.SMALL)}",
        "spark.log4j.config.file.name": str(log4j),
        "spark.driver.memory": size.driver_memory,
        "spark.sql.shuffle.partitions": str(size.partitions),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if cluster.embedded:
        settings |= {
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.local.dir": str(cluster.folder / "spark"),
        }
    if jars:
        class_path = os.pathsep.join(map(str, jars))
        settings |= {
            "spark.driver.extraClassPath": class_path,
            "raydp.executor.extraClassPath": class_path,
        }
    return settings


def _first_line(error: BaseException) -> str:
    """The first line: Java's errors include the whole stack."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
