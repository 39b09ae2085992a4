"""Routers get the partitions of a frame that they ask for, also after Spark has lost them."""

import pytest

from spark_ingest.arrow_export import ArrowExport

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
