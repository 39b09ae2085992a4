"""Spark itself checks, partitions and windows the rows of every source, without Python. Those of
Kafka are in `kafka/test_kafka_plans.py`."""

import json
import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from cluster.jobs import Asked
from cluster.plans import assert_spark_does_it, executed_plan
from cluster.streams import FORMATS, RIDES, rides
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.segments import SegmentSource
from spark_ingest.sources.stream_inputs import GeneratedFeed, SocketFeed


@pytest.mark.parametrize("format", FORMATS)
def test_files(spark, tmp_path: Path, format: str):
    path = tmp_path / f"rides.{format}"
    FORMATS[format](rides(50, seed=1), path)
    plan = executed_plan(spark, FileSource(spark, path, Asked(RIDES, path).needs))
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
