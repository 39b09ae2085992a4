"""Kafka under a job: results are there once for readers of what is committed, whether the driver
is killed or the broker goes away."""

import json
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Producer

import hamlet
from cluster.faults import stream
from cluster.faults.command import Command
from cluster.faults.test_damage import newest
from cluster.faults.test_driver import killed
from cluster.kafka.conftest import fetched_jars  # noqa: F401
from cluster.kafka.test_kafka_sink import committed
from tools.kafka import Broker
from tools.patience import PATIENCE_S

AWAY_S = 20
# Before and after that.
SECONDS = 8
PARTITIONS = 2
WIDE = "20s"


@pytest.fixture
def broker(fetched_jars, tmp_path):  # noqa: F811
    broker = Broker(tmp_path / "broker")
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def to_kafka(broker, tmp_path):
    """A job whose results go to a topic."""
    command = Command(tmp_path / "job", f"kafka://{broker.address}/results")
    yield command
    command.stop()


def published(broker: Broker) -> dict[str, Counter[tuple[object, ...]]]:
    """As `stream.written` gives them."""
    found: dict[str, Counter[tuple[object, ...]]] = {}
    for _, value in committed(broker, "results"):
        rows = found.setdefault(f"{value['query']}.parquet", Counter())
        rows[tuple(value["row"].items())] += 1
    for name in ("_late", "_dead_letter"):
        topic = "results" + name.replace("_", "-")
        rows = found.setdefault(name, Counter())
        for _, row in committed(broker, topic):
            row["source"] = Path(row["source"]).name
            rows[tuple(row.items())] += 1
    return found


def test_killed_driver(to_kafka, broker, undisturbed):
    killed(to_kafka, 5, seed=30)
    to_kafka.start()
    to_kafka.all_files()
    assert to_kafka.signal(signal.SIGTERM) == 0, to_kafka.said
    assert published(broker) == undisturbed


def test_a_user_goes_back_by_one_epoch_after_its_results_are_out(to_kafka, broker, undisturbed):
    taken = 0
    while not is_out(to_kafka.epoch(), broker):  # else it had no results
        to_kafka.fill(taken, taken + 5)
        taken += 5
        to_kafka.start()
        to_kafka.wait_for(lambda: to_kafka.files() == taken)  # noqa: B023
        assert to_kafka.signal(signal.SIGTERM) == 0, to_kafka.said
    for copy in "ab":
        newest(to_kafka, f"{copy}/epochs").unlink()
    to_kafka.fill(taken, stream.FILES)
    to_kafka.start()
    to_kafka.all_files()
    assert to_kafka.signal(signal.SIGTERM) == 0, to_kafka.said
    assert "recomputed but not sent" in to_kafka.said
    assert published(broker) == undisturbed


def is_out(epoch: int, broker: Broker) -> bool:
    return epoch >= 0 and committed(broker, "results-epochs")[-1][1]["epoch"] == epoch


class Sender(threading.Thread):
    """Sends a stream on and on, until it is told to stop; then its end."""

    def __init__(self, broker: Broker, topic: str) -> None:
        super().__init__(name="sender")
        self._topic = topic
        self._chance = random.Random(40)
        self._producer = Producer(
            {
                "bootstrap.servers": broker.address,
                "enable.idempotence": True,
                "log_level": 0,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        self.stopped = threading.Event()
        self.events: list[dict[str, object]] = []

    def run(self) -> None:
        now = 0
        while not self.stopped.is_set():
            for _ in range(100):
                now += self._chance.randrange(20)
                self._send(now - self._chance.randrange(5_000), self._chance.choice("AABBBC"))
            self._producer.poll(0)
            time.sleep(0.1)
        for partition in range(PARTITIONS):
            self._send(now + stream.END * 1000, "X", partition)
        assert self._producer.flush(PATIENCE_S) == 0

    def _send(self, time: int, type: str, partition: int | None = None) -> None:
        driver = f"d{self._chance.randrange(200)}"
        event = {
            "time": time,
            "type": type,
            "driver": driver,
            "district": f"n{stream.hash_of(driver) % 7}",
            "value": float(self._chance.randrange(100)),
        }
        self.events.append(event)
        where = self._chance.randrange(PARTITIONS) if partition is None else partition
        self._producer.produce(self._topic, json.dumps(event), partition=where)


@pytest.fixture
def over_kafka(broker, tmp_path):
    """A job from one topic to another."""
    broker.create("events", PARTITIONS)
    source, results = (f"kafka://{broker.address}/{name}" for name in ("events", "results"))
    command = Command(tmp_path / "job", results, source, WIDE)
    yield command
    command.stop()


@pytest.fixture
def sender(broker):
    sender = Sender(broker, "events")
    yield sender
    sender.stopped.set()


def test_broker_away(over_kafka, broker, sender):
    """From source and sink at once."""
    sender.start()
    over_kafka.start()
    over_kafka.next_epoch()
    time.sleep(SECONDS)
    broker.stop()
    before = over_kafka.epoch()
    time.sleep(AWAY_S)
    broker.start()
    over_kafka.wait_for(lambda: over_kafka.epoch() > before + 5)
    sender.stopped.set()
    sender.join()
    over_kafka.wait_for(lambda: over_kafka.records() == len(sender.events))
    assert over_kafka.signal(signal.SIGTERM) == 0, over_kafka.said
    assert "does not answer" in over_kafka.said
    assert "answers again" in over_kafka.said
    found: dict[str, Counter[tuple[object, ...]]] = {}
    for _, value in committed(broker, "results"):
        rows = found.setdefault(value["query"], Counter())
        rows[tuple(value["row"].items())] += 1
    assert found == in_process(sender.events)
    assert all(rows.total() > 10 for rows in found.values())


def in_process(events: list[dict[str, object]]) -> dict[str, Counter[tuple[object, ...]]]:
    """What these events come to without Ray, Spark and Kafka."""
    table = pa.Table.from_pylist(events).sort_by("time")
    results = hamlet.aggregate(hamlet.parse(stream.WORKLOAD), table, time_unit="ms")
    return {
        name: Counter(tuple(row.items()) for row in rows.to_pylist())
        for name, rows in results.items()
    }
