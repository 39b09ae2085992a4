"""Lists the processes of Spark and RayDP, for the watchdog of a job.

Spark's driver is a JVM of this process. RayDP adds two JVMs that Spark gets executors from, its app
master: a Java actor, and a gateway that a Python actor runs. Executors are Java actors, which the
app master owns: they end with it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import Any

import ray
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from actors.health import Health, ProcessStatus, child_running, kill_local, local_health
from actors.process_watch import ActorTable, WatchedActor

# As messages call it.
_APP_MASTER_NAME = "RayDP's app master"

APP_MASTER = "RAY_APP_MASTER"
_GATEWAY_CLASS, _GATEWAY_PROGRAM = (
    "RayDPSparkMaster",
    "org.apache.spark.deploy.raydp.AppMasterEntryPoint",
)
_APP_MASTER_CLASS = "org.apache.spark.deploy.raydp.RayAppMaster"
_EXECUTOR_CLASS = "org.apache.spark.executor.RayDPExecutor"


def raydp_job() -> str:
    """The id of the Ray job that RayDP's Java actors belong to: its gateway is a driver of Ray."""
    return str(ray.get_actor(APP_MASTER)._actor_id.job_id.hex())


def raydp_actors(table: ActorTable) -> list[WatchedActor]:
    """The table has all actors of the two Ray jobs. Ones of earlier sessions are dead."""
    found = []
    for id, entry in table.items():
        kind = entry["ActorClassName"]
        if kind == _EXECUTOR_CLASS:
            found.append(WatchedActor("executor", "a Spark executor", id))
        elif kind == _APP_MASTER_CLASS:
            found.append(WatchedActor("app master", _APP_MASTER_NAME, id, False))
        elif kind == _GATEWAY_CLASS and entry["State"] != "DEAD":
            found.append(WatchedActor("app master", _APP_MASTER_NAME, id, False, _GATEWAY_PROGRAM))
    return found


def spark_driver() -> dict[str, int]:
    """The process of Spark's driver."""
    gateway: Any = SparkContext._gateway
    return {SparkDriver.what: gateway.proc.pid}


class LaunchedDriver:
    """The process of Spark's driver from its launch on, while PySpark waits for it to answer. If it
    dies then, PySpark says so, or launches another one."""

    what = "the kernel"
    _PROGRAM = "pyspark-shell"

    def observe(self) -> list[ProcessStatus]:
        gateway: Any = SparkContext._gateway
        pid = child_running(os.getpid(), self._PROGRAM) if gateway is None else gateway.proc.pid
        if pid is None or (health := local_health(pid)) is Health.GONE:
            return []
        name, kill = SparkDriver.what, partial(kill_local, pid)
        return [ProcessStatus(name, name, f"{name} launched", pid, health, kill, False)]

    def give_up(self) -> None: ...


class SparkDriver:
    """Asks Spark's driver for an answer. A JVM that collects garbage for ever gives none."""

    what = "Spark's driver"

    def __init__(self, session: SparkSession) -> None:
        self._pid = spark_driver()[self.what]
        self._jvm: Any = session.sparkContext._jvm

    def observe(self) -> list[ProcessStatus]:
        with suppress(Py4JError, OSError):  # it has died, which the kernel says as well
            self._jvm.java.lang.System.nanoTime()
        return []

    def give_up(self) -> None:
        kill_local(self._pid)


class AppMaster:
    """Asks the app master for its address. The answer comes through all of its processes: the
    Python actor asks the gateway, and that asks the Java actor."""

    what = _APP_MASTER_NAME

    def __init__(self, session: SparkSession) -> None:
        from raydp.spark.ray_cluster_master import RAYDP_SPARK_MASTER_SUFFIX

        name = f"{session.sparkContext.appName}{RAYDP_SPARK_MASTER_SUFFIX}"
        self._actor: Any = ray.get_actor(name)

    def observe(self) -> list[ProcessStatus]:
        with suppress(ray.exceptions.RayError):  # it has died, which Ray's table says as well
            ray.get(self._actor.get_master_url.remote())
        return []

    def give_up(self) -> None:
        """Spark gets no more executors from it, and the job ends."""
