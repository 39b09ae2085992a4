"""`hamlet.aggregate` over frames of Spark, on sessions with RayDP and without."""

import json
import warnings
from decimal import Decimal

import pyarrow as pa
import pytest

import hamlet
from cluster.streams import RIDES, rides
from runtime.errors import HamletError
from spark_ingest.arrow_import import spark_frame
from spark_ingest.user_session import check_user_session, is_on_ray, spark_settings
from tools.patience import PATIENCE_S

WORKLOAD = """
QUERY trips
RETURN driver, COUNT(*) AS n, SUM(T.speed) AS s
PATTERN SEQ(Request R, Travel T+)
GROUP-BY driver
WITHIN 60 seconds SLIDE 20 seconds
"""


def test_a_frame_on_raydp(spark):
    """On the session and the Ray that the process has; nothing is collected, nothing closed."""
    table = rides(5_000, seed=5)
    assert is_on_ray(spark)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = hamlet.aggregate(RIDES, spark_frame(spark, table), actors=1)
    assert found == hamlet.aggregate(RIDES, table)
    assert found.dead_letters.num_rows == 0
    assert spark.range(3).count() == 3


def test_results_as_frames(spark):
    table = rides(500, seed=6)
    bad = table.append_column("n", pa.array(range(500))).filter(pa.compute.field("n") < 450)
    rows = spark_frame(spark, bad.drop_columns("n")).selectExpr(
        "if(speed = 3.0, NULL, time) AS time", "type", "driver", "speed"
    )
    frames = hamlet.aggregate(WORKLOAD, rows, results="spark", numeric="exact", ties="arrival")
    tables = hamlet.aggregate(WORKLOAD, rows, numeric="exact", ties="arrival")
    trips = frames["trips"]
    assert trips.sparkSession is not None
    assert trips.columns == tables["trips"].column_names
    assert [row.asDict() for row in trips.collect()] == tables["trips"].to_pylist()
    assert trips.where("n > 1").count() > 0
    assert frames.dead_letters.count() == tables.dead_letters.num_rows > 0
    assert {row.row for row in frames.dead_letters.collect()} == {None}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"results": "pandas"}, "results is `pandas`"),
        ({"lateness": 5}, "lateness is for streams"),
        ({"actors": 0}, "at least one must compute"),
        ({"time_column": "t"}, "no column `t`"),
    ],
)
def test_errors(spark, options, said):
    frame = spark_frame(spark, rides(10, seed=1))
    with pytest.raises(HamletError, match=said):
        hamlet.aggregate(RIDES, frame, **options)


def test_a_streaming_frame_has_no_end(spark):
    with pytest.raises(HamletError, match="no end") as caught:
        hamlet.aggregate(WORKLOAD, spark.readStream.format("rate").load())
    assert "hamlet.stream" in caught.value.hint


def test_a_session_without_the_flags_of_java_17_is_refused(spark, monkeypatch):
    check_user_session(spark)
    given = dict(spark.sparkContext.getConf().getAll())
    executor = given["spark.executor.extraJavaOptions"]
    without = executor.replace("--add-opens=java.base/java.nio=ALL-UNNAMED", "")
    conf = spark.sparkContext.getConf().set("spark.executor.extraJavaOptions", without)
    monkeypatch.setattr(spark.sparkContext, "getConf", lambda: conf)
    with pytest.raises(HamletError, match=r"java.nio=ALL-UNNAMED in spark\.executor") as caught:
        check_user_session(spark)
    assert "hamlet.spark_settings()" in caught.value.hint
    assert "java.nio=" in spark_settings()["spark.executor.extraJavaOptions"]


def test_arrow_types_of_results_become_types_of_spark(spark):
    table = pa.table(
        {
            "whole": pa.array([1, None], pa.int64()),
            "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
            "second": pa.array([1, None], pa.timestamp("s")),
            "instant": pa.array([1, None], pa.timestamp("ms", "Europe/Berlin")),
            "text": pa.array(["a", None]).dictionary_encode(),
            "number": pa.array([0.5, None]),
            "flag": pa.array([True, None]),
            "bytes": pa.array([b"a", None]),
        }
    )
    frame = spark_frame(spark, table)
    kinds = dict(frame.dtypes)
    assert kinds == {
        "whole": "bigint",
        "unsigned": "decimal(20,0)",
        "second": "timestamp_ntz",
        "instant": "timestamp",
        "text": "string",
        "number": "double",
        "flag": "boolean",
        "bytes": "binary",
    }
    micros = frame.selectExpr("whole", "unsigned", "CAST(second AS STRING)", "unix_micros(instant)")
    rows = [tuple(row) for row in micros.collect()]
    assert rows == [(1, Decimal(2**64 - 1), "1970-01-01 00:00:01", 1_000), (None,) * 4]
    assert spark_frame(spark, table.schema.empty_table()).count() == 0


# ---- in processes of their own -------------------------------------------------------------


COLLECTED = """
import json, logging, os, warnings
from spark_ingest import java
os.environ.update(java.environment())
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "3")
    .getOrCreate()
)
import hamlet
rows = [(n, ("Request", "Travel", "Travel")[n % 3], f"d{n % 4}", n / 2) for n in range(300)]
frame = spark.createDataFrame(rows, "time BIGINT, type STRING, driver STRING, speed DOUBLE")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = hamlet.aggregate(WORKLOAD, frame.repartition(3, "driver"))
said = [str(each.message) for each in caught if "collected" in str(each.message)]
import pyarrow as pa, ray
columns = dict(zip(("time", "type", "driver", "speed"), zip(*rows)))
same = found == hamlet.aggregate(WORKLOAD, pa.table({n: list(c) for n, c in columns.items()}))
print(json.dumps({
    "same": same, "rows": len(found["trips"]), "said": said, "file": caught[0].filename,
    "ray": ray.is_initialized(), "spark": spark.range(2).count(),
}))
"""


def test_a_session_without_raydp_collects_and_says_so(run):
    process = run(f"WORKLOAD = {WORKLOAD!r}\n{COLLECTED}")
    printed, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    told = json.loads(printed.splitlines()[-1])
    assert told["same"]
    assert told["rows"] > 0
    assert len(told["said"]) == 1
    assert "hamlet.session()" in told["said"][0]
    assert told["file"] == "<string>"
    assert not told["ray"]
    assert told["spark"] == 2


OURS = """
import json
import hamlet, ray
spark = hamlet.session(settings={"spark.sql.shuffle.partitions": "3"})
assert hamlet.session() is spark
frame = spark.range(300).selectExpr(
    "id AS time", "if(id % 3 = 0, 'Request', 'Travel') AS type",
    "concat('d', id % 4) AS driver", "id / 2.0D AS speed",
)
found = hamlet.aggregate(WORKLOAD, frame, actors=1)
table = frame.toPandas()
import pyarrow as pa
same = found == hamlet.aggregate(WORKLOAD, pa.Table.from_pandas(table))
spark.stop()
again = hamlet.session()
hamlet.stop_session()
print(json.dumps({"same": same, "ray": ray.is_initialized(), "new": again is not spark}))
"""


def test_a_session_of_ours(run):
    process = run(f"WORKLOAD = {WORKLOAD!r}\n{OURS}")
    printed, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors
    assert json.loads(printed.splitlines()[-1]) == {"same": True, "ray": False, "new": True}


THEIRS = """
import json, os
from spark_ingest import java
os.environ.update(java.environment())
import ray, raydp
ray.init(num_cpus=8, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
import hamlet
settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
settings |= {"spark.ui.enabled": "false", **hamlet.spark_settings()}
spark = raydp.init_spark("theirs", 1, 1, "600m", configs=settings)
frame = spark.range(300).selectExpr(
    "id AS time", "if(id % 3 = 0, 'Request', 'Travel') AS type",
    "concat('d', id % 4) AS driver", "id / 2.0D AS speed",
)
frame = frame.join(spark.range(3).selectExpr("concat('d', id) AS driver"), "driver")
found = hamlet.aggregate(WORKLOAD, frame, actors=1)
import pyarrow as pa
same = found == hamlet.aggregate(WORKLOAD, pa.Table.from_pandas(frame.toPandas()))
print(json.dumps({"same": same, "ray": ray.is_initialized(), "spark": spark.range(2).count()}))
raydp.stop_spark()
"""


def test_a_session_of_raydp_that_a_user_started(run):
    process = run(f"WORKLOAD = {WORKLOAD!r}\n{THEIRS}")
    printed, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors
    (told,) = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert told == {"same": True, "ray": True, "spark": 2}
