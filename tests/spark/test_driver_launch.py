"""A JVM that ran before the launch of Spark's driver belongs to somebody else."""

from pathlib import Path

from pyspark.sql import SparkSession

from spark_ingest.driver_launch import DriverLaunch


def test_another_session_outlives_the_launch(local_spark: SparkSession, tmp_path: Path):
    launch = DriverLaunch(dict, tmp_path / "spark-driver.out")
    launch.wait()
    launch.end()
    assert local_spark.range(3).count() == 3
