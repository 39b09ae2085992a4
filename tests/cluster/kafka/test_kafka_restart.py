"""A broker that is away for a while holds a job up, and does not end it."""

import threading
import time

import pyarrow as pa
import pytest

from cluster.kafka.records import everything, send, source
from cluster.kafka.test_kafka_sink import committed
from cluster.pipelines import reading
from spark_ingest.kafka.address import parse_address
from spark_ingest.sinks.kafka import KafkaSink
from tools.kafka import Broker

AWAY = 20

pytestmark = pytest.mark.slow


@pytest.fixture
def own_broker(fetched_jars, tmp_path):
    broker = Broker(tmp_path / "broker")
    broker.start()
    yield broker
    broker.stop()


def away(broker):
    """Stops the broker and starts it again after a while, beside the test."""
    broker.stop()
    back = threading.Thread(target=lambda: (time.sleep(AWAY), broker.start()))
    back.start()
    return back


def test_source_and_sink_outlast_it(spark, own_broker, topic):
    said = []
    own_broker.create(topic, 2)
    for partition in range(2):
        send(own_broker, topic, [{"time": i, "type": "A"} for i in range(50)], partition)
    read = source(spark, own_broker, topic, bounded=False, say=said.append)
    wanted = read.next(read.first(), 4000)
    results = parse_address(f"kafka://{own_broker.address}/{topic}-results")
    sink = KafkaSink(results, "job", say=said.append)
    sink.recover(-1)

    back = away(own_broker)
    rows, _, end = everything(read, ["time"], position=wanted.start)
    back.join()
    assert len(rows) == 100
    assert "does not answer" in said[0]
    assert "answers again" in said[-1]
    assert end["offsets"] == {"0": 50, "1": 50}

    back = away(own_broker)
    sink.publish(0, [{"q": pa.table({"n": [1]})}], None)
    back.join()
    sink.publish(0, [{"q": pa.table({"n": [1]})}], None)
    assert committed(own_broker, f"{topic}-results") == [("q", {"query": "q", "row": {"n": 1}})]
    sink.close()


def test_a_frame_that_is_read_while_it_is_away(spark, own_broker, topic):
    own_broker.create(topic)
    send(own_broker, topic, [{"time": i, "type": "A"} for i in range(50)])
    read = source(spark, own_broker, topic)
    found = read.read(read.next(read.first(), 1 << 20), reading(read, ["time"]))
    back = away(own_broker)
    assert found.frame.count() == 50
    back.join()
