"""Starts and stops the Spark session of a run on a Ray cluster, through RayDP."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from actors.cluster import LOOPBACK, Cluster
from actors.health import died, way_on
from runtime.errors import EnvironmentFailure
from spark_ingest import executors, java, jvm
from spark_ingest.driver_launch import DriverLaunch
from spark_ingest.spark_patches import after_master, completed_settings
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
    settings: Mapping[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> SparkSession:
    """Starts a Spark session whose executors are actors of the cluster, and waits for them.

    The arguments are those of `SessionStart`. The cluster stops the session when it closes.
    """
    starting = SessionStart(size, jars=jars, settings=settings, limit_s=limit_s)
    starting.begin(cluster)
    return starting.wait_for_executors()


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


class SessionStart:
    """Starts a session in threads of its own: RayDP waits forever for missing resources, and others
    can go on meanwhile.

    The cluster stops the session when it closes, if it still runs. It must have been started, or
    connected to, with our `environment`.

    `jars` are put on the class path of driver and executors; on a cluster of several machines
    they must be at the same path on each. RayDP repeats `settings` on command lines: no secrets.
    """

    def __init__(
        self,
        size: SparkSize | None = None,
        *,
        jars: Sequence[Path] = (),
        settings: Mapping[str, str] | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        self._size = size or SparkSize()
        self._jars, self._more, self._limit_s = jars, settings or {}, limit_s
        self._cluster: Cluster | None = None
        self._until = 0.0
        self._session: SparkSession | None = None
        self._error: BaseException | None = None
        self._monitor: executors.ExecutorMonitor | None = None
        self._given_up = False
        self._master_runs, self._connected = threading.Event(), threading.Event()
        self._complete = threading.Event()

    def launch_driver(self, cluster: Cluster) -> None:
        """Starts the driver's JVM. The variables of the cluster must be set, but Ray need not run:
        this is for `actors.cluster.start`, to call `beside` it."""
        self._cluster = cluster
        self._settings = _settings(cluster, self._size, self._jars) | dict(self._more)
        self._driver = DriverLaunch(
            partial(completed_settings, self._size, self._settings),
            cluster.logs / "spark-driver.out",
        )
        cluster.before_close(self._driver.end)

    def begin(self, cluster: Cluster) -> None:
        """Starts the rest. Ray runs."""
        if self._cluster is not cluster:
            self.launch_driver(cluster)
        cluster.before_close(stop)
        cluster.before_close(self._give_up)
        self._until = time.monotonic() + self._limit_s
        threading.Thread(target=self._run, name="spark-start", daemon=True).start()

    def wait_for_master(self) -> None:
        """Waits until RayDP's master runs. Ray starts few processes at a time: those that are
        requested after this do not delay Spark."""
        self._master_runs.wait(self._left())
        if self._error is not None:
            raise self._failure()

    @property
    def connected(self) -> bool:
        """Whether `wait` returns at once."""
        return self._connected.is_set()

    def wait(self) -> SparkSession:
        """Waits for the session. It can plan frames, while its executors may still be starting."""
        self._connected.wait(self._left())
        if self._session is None:
            raise self._failure()
        return self._session

    def wait_for_executors(self) -> SparkSession:
        """Waits for the session and all its executors. Without them, what runs a job of Spark would
        wait, perhaps forever, unless somebody calls `check` meanwhile."""
        session = self.wait()
        self._complete.wait(self._left())
        self.check()
        return session

    def check(self) -> None:
        """Raises an error if the session did not start, if its executors are late, or if the
        driver has died."""
        assert self._cluster is not None
        if self._error is not None or not (self._complete.is_set() or self._left()):
            raise self._failure()
        _check_driver(self._cluster)

    def _left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _failure(self) -> EnvironmentFailure:
        assert self._cluster is not None
        error, logs = self._error, self._cluster.logs
        self._given_up = True
        said = f"not within {self._limit_s:g} s" if error is None else _first_line(error)
        return EnvironmentFailure(f"Spark did not start: {said}", f"the logs are in {logs}")

    def _give_up(self) -> None:
        self._given_up = True
        if self._monitor is not None:
            self._monitor.stop()

    def _run(self) -> None:
        try:
            session = self._init_spark()
            self._session = session
            self._connected.set()
            self._await_executors(session)
        except BaseException as error:
            self._error = error
        finally:
            for event in (self._master_runs, self._connected, self._complete):
                event.set()

    def _init_spark(self) -> SparkSession:
        import raydp

        size = self._size
        if self._given_up:  # Ray may have ended, and RayDP would start another one
            raise RuntimeError("given up")
        with after_master(self._await_driver):
            session: SparkSession = raydp.init_spark(
                NAME, size.executors, size.cores, size.memory, configs=dict(self._settings)
            )
        return session

    def _await_driver(self) -> None:
        self._master_runs.set()
        self._driver.wait()

    def _await_executors(self, session: SparkSession) -> None:
        wanted = self._size.executors
        while executors.count(session) < wanted and not self._given_up:
            time.sleep(0.05)
        if not self._given_up:
            self._monitor = executors.ExecutorMonitor(session, wanted)


class GivenSession:
    """A session of the user, which runs already."""

    connected = True

    def __init__(self, session: SparkSession, cluster: Cluster) -> None:
        self._session, self._cluster = session, cluster

    def wait(self) -> SparkSession:
        return self._session

    def wait_for_executors(self) -> SparkSession:
        return self._session

    def check(self) -> None:
        """Raises an error if the driver has died."""
        _check_driver(self._cluster)


def _check_driver(cluster: Cluster) -> None:
    """Nothing restarts the driver's JVM."""
    pid = jvm.ended()
    if pid is not None:
        raise EnvironmentFailure(died(SparkDriver.what, pid), way_on(cluster.logs))


def _settings(cluster: Cluster, size: SparkSize, jars: Sequence[Path]) -> dict[str, str]:
    log4j = jvm.write_log4j(cluster.folder / "log4j2.properties", cluster.logs / "spark-driver.log")
    here = *jvm.FLAGS, jvm.temporary_files(cluster.folder)
    # On a given cluster, the others may be on machines that have no such folder.
    there = here if cluster.embedded else jvm.FLAGS
    settings = {
        **sql_settings(cluster.folder),
        "spark.driver.extraJavaOptions": " ".join(
            (*here, jvm.QUICK, f"-Dray.logging.dir={cluster.logs}")
        ),
        "spark.executor.extraJavaOptions": " ".join(there),
        "spark.ray.raydp_app_master.extraJavaOptions": " ".join((*there, *jvm.SMALL)),
        "spark.log4j.config.file.name": str(log4j),
        "spark.driver.memory": size.driver_memory,
        # Spark would count the cores of the executors that have joined by then.
        "spark.default.parallelism": str(size.executors * size.cores),
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
