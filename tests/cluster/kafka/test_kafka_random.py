"""Random records, bad ones among them: what is an event, what a dead letter, and its offset."""

import base64
import json
from collections import Counter
from random import Random

import pyarrow as pa

from cluster.jobs import (
    Found,
    JobInput,
    assert_same_counts,
    assert_same_results,
    locally,
    to_the_end,
)
from cluster.kafka.avro_values import decoded, random_value
from cluster.kafka.records import everything, send, source
from runtime.language.parser import parse
from runtime.types.schema import Schema
from spark.json_lines import random_lines
from spark_ingest.kafka.avro import Avro

COUNT = 2_000
#: The largest time, in seconds.
LATEST = (2**62 - 1) // 10**6
KINDS = {"time": "whole", "type": "text", "v": "number", "k": "text"}
TYPES = {"time": pa.int64(), "type": pa.string(), "v": pa.float64(), "k": pa.string()}
QUERIES = parse("""
QUERY all
RETURN COUNT(*) AS n, MAX(B.v) AS high
PATTERN B+
WITHIN 1 hour

QUERY each
RETURN k, COUNT(*) AS n, MIN(a.v) AS low
PATTERN SEQ(a+, B?)
GROUP-BY k
WITHIN 1 hour
""")


def test_json_equals_the_local_engine(spark, actor_pool, broker, topic, tmp_path):
    """Which reads the same values as the lines of a file."""
    lines = [line for line in random_lines(11, COUNT, KINDS) if line.strip()]
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    broker.create(topic)
    send(broker, topic, lines)
    declared = Schema.from_arrow(pa.schema(TYPES))
    asked = JobInput(QUERIES, path, unit="us", declared=declared)
    given = {"uses": QUERIES.uses, "declared": declared}
    read = source(spark, broker, topic, needs=given, unit="us")
    found = to_the_end(spark, actor_pool(2), asked, read, tmp_path / "checkpoint")
    wanted = locally(asked)
    assert len(set(wanted.dead["reason"].to_pylist())) > 10
    assert wanted.events > COUNT / 6
    assert letters(found) == letters(wanted)
    assert set(found.dead["source"].to_pylist()) == {f"{topic}/0"}
    assert_same_counts(found, wanted)
    assert_same_results(found, wanted)


def letters(found: Found) -> list[dict[str, object]]:
    """Lines have the numbers of the offsets, but another source."""
    dead = found.dead.drop_columns(["source"]).to_pylist()
    return sorted(dead, key=lambda letter: letter["row"])


AVRO = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "time", "type": "long"},
        {"name": "type", "type": "string"},
        {"name": "n", "type": ["null", "long"], "default": None},
    ],
}


def test_avro_is_what_another_decoder_reads(spark, broker, topic):
    chance = Random(12)
    values = [random_value(chance) for _ in range(COUNT)]
    broker.create(topic)
    send(broker, topic, values)
    read = source(spark, broker, topic, avro=Avro(json.dumps(AVRO)))
    rows, dead, _ = everything(read, ["time", "type", "n"])
    events, reasons = {}, {}
    for offset, value in enumerate(values):
        try:
            record, rest = decoded(value)
        except ValueError:
            reasons[offset] = "the value is not Avro of this schema"
            continue
        time, type_, n = record
        if rest:
            reasons[offset] = "extra bytes follow the Avro value"
        elif type_.decode(errors="replace").encode() != type_:
            reasons[offset] = "`type` is not UTF-8"
        elif abs(time) > LATEST:
            reasons[offset] = "the time is out of range"
        else:
            events[offset] = (time, type_.decode(), n)
    assert {letter["row"]: letter["reason"] for letter in dead} == reasons
    assert {row[1]: row[2:] for row in rows} == events
    for letter in dead:
        assert base64.b64decode(json.loads(letter["event"])["base64"]) == values[letter["row"]]
    assert len(set(reasons.values())) == 4
    assert min(Counter(reasons.values()).values()) > 10
