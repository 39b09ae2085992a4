"""A topic through Spark's own source, with columns that the user parses."""

import threading

from pyspark.sql import functions as F

import hamlet
from cluster.kafka.records import send
from cluster.streams import RIDES, rides
from tools.patience import PATIENCE_S

DDL = "time LONG, type STRING, driver STRING, zone LONG, speed DOUBLE"
SECOND = 1_000_000


def test_frame_of_a_topic(spark, broker, topic, tmp_path):
    table = rides(1_500, seed=21)
    broker.create(topic, 1)
    frame = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker.address)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 400)
        .load()
        .select(F.from_json(F.col("value").cast("string"), DDL).alias("event"))
        .select("event.*")
    )
    found: dict[str, list[dict]] = {}
    all_rows = threading.Event()
    last = table["time"][-1].as_py()

    def each(epoch: int, tables: hamlet.EpochTables) -> None:
        for name, rows in tables.items():
            found.setdefault(name, []).extend(rows.to_pylist())
        assert tables.late.num_rows == 0
        if any(row["window_end"] >= last - 20 for row in found.get("by_driver", ())):
            all_rows.set()

    job = hamlet.stream(RIDES, frame, checkpoint=str(tmp_path / "c"), each=each, name=topic)
    send(broker, topic, table.to_pylist())
    assert all_rows.wait(PATIENCE_S), job.failure
    job.stop()
    for name, wanted in hamlet.aggregate(RIDES, table).items():
        closed = [row for row in wanted.to_pylist() if row["window_end"] <= last]
        assert closed
        assert sorted(map(str, found[name])) == sorted(map(str, closed)), name
