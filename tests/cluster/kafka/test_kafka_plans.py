"""Spark itself decodes, checks, partitions and windows the records of Kafka, without Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.kafka.records import send, source
from cluster.kafka.test_kafka_avro import SCHEMA, avro
from cluster.plans import assert_spark_does_it, executed_plan
from runtime.language.parser import parse
from spark_ingest.kafka.avro import Avro
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
QUERY = "QUERY q RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE [n] WITHIN 1 minute"


def needs() -> dict[str, object]:
    return {"uses": parse(QUERY).uses}


def test_json(spark, broker, topic):
    broker.create(topic, 2)
    send(broker, topic, [{"time": 1, "type": "A", "n": 1}])
    plan = executed_plan(spark, source(spark, broker, topic, needs=needs()), parse(QUERY))
    assert "from_json(" in plan
    assert_spark_does_it(plan)


def test_avro(spark, broker, topic):
    broker.create(topic, 2)
    send(broker, topic, [avro(1000, "A", 7)])
    read = source(spark, broker, topic, needs=needs(), avro=Avro(json.dumps(SCHEMA)))
    plan = executed_plan(spark, read, parse(QUERY))
    assert "from_avro(" in plan
    assert_spark_does_it(plan)


@pytest.mark.slow
def test_explain_shows_the_plan(broker, topic, tmp_path):
    """In a process of its own, since it starts a Spark of its own."""
    broker.create(topic)
    send(broker, topic, [{"time": 1, "type": "A", "n": 1}])
    (tmp_path / "q.sase").write_text(QUERY)
    address = f"kafka://{broker.address}/{topic}"
    code = "from hamlet.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "explain", "q.sase", "--input", address, "--format", "json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["assumed_types"] == []
    assert found["input"]["name"] == address
    assert "from_json(" in found["input"]["plan"]
    assert "__pane__" in found["input"]["plan"]
