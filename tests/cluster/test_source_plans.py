"""Spark itself checks, partitions and windows the rows of every source, without Python. Those of
Kafka are in `kafka/test_kafka_plans.py`."""

import json
import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from cluster.jobs import JobInput
from cluster.plans import assert_spark_does_it, executed_plan, executed_plans
from cluster.streams import FORMATS, RIDES, rides
from cluster.test_streaming_frames import COLUMNS
from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from spark_ingest.arrow_import import spark_frame
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.frame import FrameSource
from spark_ingest.sources.segments import SegmentSource
from spark_ingest.sources.stream_inputs import GeneratedFeed, SocketFeed
from spark_ingest.sources.streaming_frame import StreamingFrameSource


@pytest.mark.parametrize("format", FORMATS)
def test_files(spark, tmp_path: Path, format: str):
    path = tmp_path / f"rides.{format}"
    FORMATS[format](rides(50, seed=1), path)
    plan = executed_plan(spark, FileSource(spark, path, JobInput(RIDES, path).needs))
    assert_spark_does_it(plan)


def test_a_generated_stream(spark, tmp_path: Path):
    workload = parse("RETURN COUNT(*) PATTERN SEQ(Request, Travel+) WHERE [driver] WITHIN 1 minute")
    feed = GeneratedFeed("ridesharing?events=1000&seed=1")
    needs = ReadRequest(uses=workload.uses)
    with closing(
        SegmentSource(spark, feed, tmp_path / "segments", needs, bounded=True, schema=feed.schema)
    ) as source:
        plan = executed_plan(spark, source, workload)
    assert "FileScan parquet" in plan
    assert_spark_does_it(plan)


def test_a_socket(spark, tmp_path: Path):
    lines = "".join(f"{json.dumps(row)}\n" for row in rides(50, seed=1).to_pylist()).encode()
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = threading.Thread(target=lambda: server.accept()[0].sendall(lines))
        sender.start()
        feed = SocketFeed(f"socket://127.0.0.1:{server.getsockname()[1]}")
        needs = ReadRequest(uses=RIDES.uses)
        with closing(
            SegmentSource(spark, feed, tmp_path / "segments", needs, bounded=False)
        ) as source:
            plan = executed_plan(spark, source)
        sender.join()
    assert "from_json(" in plan
    assert_spark_does_it(plan)


# ---- frames ----------------------------------------------------------------------------------
#
# Spark plans a frame once, and for each range what we do with the rows of its partitions.


def assert_spark_does_both(plans: list[str], *wanted: str) -> None:
    """The first plan is the frame's and has what is wanted, the second one has our steps."""
    of_frame, ours = plans
    assert_spark_does_it(of_frame, {each: each for each in wanted})
    assert "Scan ExistingRDD" in ours
    assert_spark_does_it(ours)


def plans_of_format(spark, format: str, folder: Path) -> list[str]:
    spark_frame(spark, rides(50, seed=1)).write.format(format).save(str(folder / "rides"))
    needs = JobInput(RIDES, folder).needs
    given = InputOptions(f"spark:{format}?path={folder / 'rides'}", needs)
    return executed_plans(spark, resolve_input(given).open(spark, folder, None, None))


def test_orc(spark, tmp_path: Path):
    assert_spark_does_both(plans_of_format(spark, "orc", tmp_path), "FileScan orc [")


@pytest.mark.usefixtures("delta")
def test_delta(spark, tmp_path: Path):
    plans = plans_of_format(spark, "delta", tmp_path)
    assert_spark_does_both(plans, "FileScan parquet [", "DeltaFileIndex(")


def test_a_frame_with_a_join_and_a_filter(spark, tmp_path: Path):
    path = tmp_path / "rides.parquet"
    FORMATS["parquet"](rides(50, seed=1), path)
    zones = spark.sql("SELECT id AS zone, id * 2.0D AS factor FROM range(3)")
    frame = (
        spark.read.parquet(str(path))
        .join(zones, "zone")
        .where("type <> 'Cancel'")
        .selectExpr("time", "type", "driver", "zone", "speed * factor AS speed")
    )
    source = FrameSource(spark, frame, JobInput(RIDES, path).needs, name="rides")
    plans = executed_plans(spark, source)
    assert_spark_does_both(plans, "FileScan parquet", "Join ", "Filter ", "Cancel", "Range (")


def test_a_streaming_frame(spark, tmp_path: Path):
    """Spark's plan of the micro-batch, and ours over its rows."""
    frame = spark.readStream.format("rate").option("rowsPerSecond", 300).load()
    needs = JobInput(RIDES, tmp_path).needs
    with closing(
        StreamingFrameSource(frame.selectExpr(*COLUMNS), needs, tmp_path / "spark", name="rate")
    ) as source:
        plans = executed_plans(spark, source)
    assert_spark_does_both(plans, "MicroBatchScan[", "RateStream", "element_at(")
