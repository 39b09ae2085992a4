"""A Spark session inside this process, without Ray: to look at plans, not to run jobs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from runtime.errors import EnvironmentFailure
from spark_ingest import java, jvm
from spark_ingest.spark_patches import gateway_output
from spark_ingest.sql_settings import sql_settings

LOOPBACK = "127.0.0.1"


@contextmanager
def local_session(
    folder: Path, jars: Sequence[Path], more: Mapping[str, str]
) -> Iterator[SparkSession]:
    """A session with one core and `more` settings, which keeps its files in `folder`. It ends with
    its JVM."""
    os.environ |= {
        **java.environment(),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": LOOPBACK,
    }
    log = folder / "spark-driver.log"
    try:
        with gateway_output(folder / "spark-driver.out"):
            spark = _started({**_settings(folder, log, jars), **more})
    except Exception as error:
        jvm.end_gateway()
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise EnvironmentFailure(f"Spark did not start: {said[0]}") from error
    try:
        yield spark
    finally:
        spark.stop()
        jvm.end_gateway()


def _started(settings: dict[str, str]) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").appName("hamlet")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _settings(folder: Path, log: Path, jars: Sequence[Path]) -> dict[str, str]:
    log4j = jvm.write_log4j(folder / "log4j2.properties", log)
    flags = *jvm.FLAGS, jvm.QUICK, jvm.temporary_files(folder)
    return {
        **sql_settings(folder),
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": " ".join(flags),
        "spark.driver.host": LOOPBACK,
        "spark.local.dir": str(folder / "spark"),
        "spark.log4j.config.file.name": str(log4j),
        "spark.sql.debug.maxToStringFields": "10000",  # a plan is shown whole
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
