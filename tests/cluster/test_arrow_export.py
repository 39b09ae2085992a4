"""Routers get the partitions of a frame that they ask for, also after Spark has lost them."""

import json

import pytest
import ray

from spark_ingest.arrow_export import ArrowExport
from tools.patience import PATIENCE_S

ROWS, PARTITIONS = 1_000, 10
EACH = ROWS // PARTITIONS


@pytest.mark.parametrize("blocks", [True, False], ids=["blocks", "collected"])
@pytest.mark.parametrize("only", [None, [3, 4, 9]])
def test_partitions(spark, blocks: bool, only: list[int] | None) -> None:
    frame = spark.range(0, ROWS, 1, PARTITIONS).selectExpr("id", "spark_partition_id() AS part")
    exported = ArrowExport(spark, blocks=blocks).park(frame, only)
    try:
        for number, part in zip(only or range(PARTITIONS), exported.parts, strict=True):
            table = part.fetch()
            assert table["id"].to_pylist() == list(range(number * EACH, (number + 1) * EACH))
            assert set(table["part"].to_pylist()) == {number}
    finally:
        exported.release()


def test_a_lost_partition_is_computed_again(spark) -> None:
    exported = ArrowExport(spark).park(spark.range(0, ROWS, 1, PARTITIONS).toDF("id"), [3, 4, 9])
    try:
        block = exported.parts[1]
        jvm = spark.sparkContext._jvm.org.apache.spark
        master = jvm.SparkEnv.get().blockManager().master()
        name = jvm.storage.RDDBlockId(block.rdd, block.partition)
        assert not master.getLocations(name).isEmpty()
        master.removeBlock(name)
        while not master.getLocations(name).isEmpty():
            pass
        assert block.fetch()["id"].to_pylist() == list(range(4 * EACH, 5 * EACH))
    finally:
        exported.release()


def test_a_driver_that_fetched_still_exports_its_functions(spark) -> None:
    exported = ArrowExport(spark).park(spark.range(0, ROWS, 1, 1).toDF("id"))
    try:
        assert exported.parts[0].fetch().num_rows == ROWS
    finally:
        exported.release()
    # Of an installed module: Ray would expect the worker to load it there by itself.
    decode = ray.remote(num_cpus=0)(json.loads)
    assert ray.get(decode.remote("[1]"), timeout=PATIENCE_S) == [1]
