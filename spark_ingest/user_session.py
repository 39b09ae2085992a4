"""Checks the Spark session of a user's frame, and whether its executors are actors of Ray."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from runtime.errors import HamletError
from spark_ingest import jvm

_OPTIONS = (
    "spark.driver.extraJavaOptions",
    "spark.executor.extraJavaOptions",
    "spark.ray.raydp_app_master.extraJavaOptions",
)
_OPENS = tuple(flag for flag in jvm.FLAGS if flag.startswith("--add-opens"))
# Before this version, Java opened everything.
_STRICT_JAVA = 17


def spark_settings() -> dict[str, str]:
    """The settings that a RayDP session needs on Java 17, for `raydp.init_spark(configs=...)`."""
    return dict.fromkeys(_OPTIONS, " ".join(_OPENS))


def is_on_ray(spark: SparkSession) -> bool:
    """Whether RayDP runs it, so that rows go to aggregators without passing through the driver."""
    return str(spark.sparkContext.master).startswith("ray")


def check_user_session(spark: SparkSession) -> None:
    """Refuses a session of RayDP whose executors would hang when they hand over rows."""
    if not is_on_ray(spark):
        return
    java: Any = spark.sparkContext._jvm
    version = str(java.java.lang.System.getProperty("java.specification.version"))
    if int(version.removeprefix("1.")) >= _STRICT_JAVA:
        _check_flags(spark)
    if not java.io.ray.api.Ray.isInitialized():
        raise HamletError(
            "the RayDP session is not connected to Ray",
            "leave out fault_tolerant_mode=False of raydp.init_spark",
        )


def _check_flags(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    for option in _OPTIONS:
        given = (conf.get(option, "") or "").split()
        missing = [flag for flag in _OPENS if flag not in given]
        if missing:
            raise HamletError(
                f"the RayDP session was started without {missing[0]} in {option}: on Java "
                f"{_STRICT_JAVA}, its executors would hang when they hand over rows",
                "start it with raydp.init_spark(..., configs=hamlet.spark_settings()), or let "
                "hamlet.session() start one",
            )
