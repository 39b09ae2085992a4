"""A session on an embedded Ray, and the way of rows from Spark to Ray."""

import os

import pyarrow as pa
import ray
from pyspark import StorageLevel
from raydp.spark.dataset import _fetch_arrow_table_from_executor as fetch

from cluster.faults import processes
from tools.patience import PATIENCE_S

ROWS = 10_000


def test_hand_over_through_blocks(spark):
    frame = spark.range(ROWS, numPartitions=2).selectExpr("id", "cast(id % 7 as string) as key")
    writer = spark._jvm.org.apache.spark.sql.raydp.ObjectStoreWriter
    level = spark.sparkContext._getJavaStorageLevel(StorageLevel.MEMORY_ONLY)
    info = writer.prepareRecoverableRDD(frame._jdf, level)
    try:
        blocks = [
            fetch.options(num_cpus=0).remote(
                f"raydp-executor-{info.locations()[i]}",
                info.rddId(),
                i,
                info.schemaJson(),
                info.driverAgentUrl(),
            )
            for i in range(info.numPartitions())
        ]
        tables = ray.get(blocks, timeout=PATIENCE_S)
    finally:
        writer.releaseRecoverableRDD(info.rddId())
    assert [len(table) for table in tables] == [ROWS // 2] * 2
    whole = pa.concat_tables(tables)
    assert whole["id"].to_pylist() == list(range(ROWS))
    assert whole["key"].to_pylist() == [str(i % 7) for i in range(ROWS)]


def test_collecting_as_arrow(spark):
    batches = spark.range(ROWS)._collect_as_arrow()
    assert sum(len(batch) for batch in batches) == ROWS


def test_python_in_executors_is_ours(spark):
    import sys

    def interpreter(batches):
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"python": [sys.executable] * len(batch)})

    rows = spark.range(1, numPartitions=1).mapInArrow(interpreter, "python string").collect()
    assert [row.python for row in rows] == [sys.executable]


def test_settings(spark):
    wanted = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.ui.enabled": "false",
    }
    assert {name: spark.conf.get(name) for name in wanted} == wanted
    assert spark.range(10).groupBy("id").count().rdd.getNumPartitions() == 2


def test_temporary_files_of_java_are_in_the_folder_of_the_cluster(cluster, spark):
    """From their start: later, RayDP changes the property of executors, which Java reads once."""
    folder = str(cluster.folder / "java")
    assert spark._jvm.System.getProperty("java.io.tmpdir") == folder
    for kind in ("executor", "app_master", "gateway"):
        [pid] = processes.of(kind)
        assert f"-Djava.io.tmpdir={folder}" in processes.command(pid).split()


def test_jars_are_on_both_class_paths(spark, jar):
    probe = "java.lang.ClassLoader", "getSystemResource", "hamlet-probe.txt"
    driver = spark._jvm.java.lang.ClassLoader.getSystemResource(probe[2])
    assert str(jar) in driver.toString()
    arguments = ", ".join(f"'{part}'" for part in probe)
    [row] = spark.range(1).selectExpr(f"java_method({arguments}) as found").collect()
    assert str(jar) in row.found


def test_nothing_is_left_in_the_working_folder(spark):
    spark.range(1).createOrReplaceTempView("one")
    spark.sql("select * from one").collect()
    assert not {"spark-warehouse", "derby.log", "metastore_db"} & set(os.listdir("."))
