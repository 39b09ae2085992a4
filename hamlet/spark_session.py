"""`hamlet.session`: a Spark session on Ray, on which users build frames."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from pathlib import Path

import ray
from pyspark import SparkContext
from pyspark.sql import SparkSession

from actors import cluster as clusters
from actors.cluster import Cluster
from runtime.errors import HamletError, check_choice
from spark_ingest import session as sessions
from spark_ingest.jars import fetched
from spark_ingest.session import SparkSize
from spark_ingest.sources.spark_format import NEEDS
from spark_ingest.spark_needs import SparkNeeds

# What Spark has by default, where sessions of jobs have something else.
_DEFAULTS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}


class _Running:
    """The session of this process, and the cluster that closes with it."""

    def __init__(self, cluster: Cluster, spark: SparkSession) -> None:
        self.cluster, self.spark = cluster, spark
        self._context = spark.sparkContext

    @property
    def alive(self) -> bool:
        """Users may stop the session by themselves."""
        return SparkContext._active_spark_context is self._context


#: At most one.
_running: list[_Running] = []


def session(
    executors: int = 1,
    cores: int = 2,
    memory: str = "1g",
    *,
    formats: Sequence[str] = (),
    jars: Sequence[str | Path] = (),
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A Spark session whose executors are actors of Ray, so that rows of its frames go to
    aggregators directly. The session that runs already is returned as it is. It uses the Ray of
    this process, or else one of its own, and ends with the process or with `stop_session`.

    For `formats` such as `kafka` and `delta`, it has the jars and settings that they need."""
    if _running and _running[0].alive:
        return _running[0].spark
    needs = [_needs(each) for each in formats]
    stop_session()
    if SparkContext._active_spark_context is not None:
        raise HamletError(
            "this process has a Spark session already, and there can be only one",
            "stop it first, or pass frames of it: their rows are collected in this process",
        )
    started = _start(
        SparkSize(executors, cores, memory, partitions=2 * executors * cores),
        [*fetched(jar for each in needs for jar in each.jars), *map(Path, jars)],
        reduce(or_, (dict(each.settings) for each in needs), _DEFAULTS) | dict(settings or {}),
    )
    _running.append(started)
    return started.spark


def stop_session() -> None:
    """Stops the session of `session`, and its Ray. Without one it does nothing."""
    while _running:
        _running.pop().cluster.close()


def _needs(format: str) -> SparkNeeds:
    check_choice("formats", format, tuple(NEEDS))
    return NEEDS[format]


def _start(size: SparkSize, jars: Sequence[Path], settings: dict[str, str]) -> _Running:
    embedded = not ray.is_initialized()
    environment = sessions.environment(embedded)
    if embedded:
        cluster = clusters.start(environment, talkative=clusters.LIBRARIES)
    else:
        cluster = clusters.attach(environment)
    try:
        return _Running(cluster, sessions.start(cluster, size, jars=jars, settings=settings))
    except BaseException:
        cluster.close(keep_logs=True)
        raise


@atexit.register
def _stop_at_exit() -> None:
    with suppress(Exception):
        stop_session()
