"""A Spark of its own, in this process, for transformations of frames: neither Ray nor RayDP."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from spark_ingest import java


@pytest.fixture(scope="session")
def local_spark() -> Iterator[SparkSession]:
    os.environ.update(java.environment())
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.caseSensitive", "true")
        .config("spark.sql.legacy.parquet.nanosAsLong", "true")
        .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    yield spark
    spark.stop()
