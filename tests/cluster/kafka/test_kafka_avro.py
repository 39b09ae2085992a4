"""Avro values: what decodes is an event, what does not is a dead letter with its bytes."""

import base64
import json

import pytest

from cluster.kafka.avro_values import encoded
from cluster.kafka.records import everything, send, source
from runtime.errors import InputError
from runtime.pipeline.event_contract import Reason
from spark_ingest.kafka.avro import Avro, read_avsc

SCHEMA = {
    "type": "record",
    "name": "Event",
    "namespace": "org.example",
    "fields": [
        {"name": "time", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "type", "type": "string"},
        {"name": "n", "type": ["null", "long"], "default": None},
    ],
}
COLUMNS = ["time", "type", "n", "kafka_offset"]


def avro(time, type_, n):
    return encoded(time, type_.encode(), n)


GOOD, EMPTY = avro(1000, "A", 7), avro(2000, "B", None)
BROKEN = (Reason.NOT_AVRO, "the value is not Avro of this schema")
REASONS = {
    GOOD[:-1]: BROKEN,
    GOOD + b"\x00": (Reason.AFTER_AVRO, "extra bytes follow the Avro value"),
    b"": BROKEN,
    None: (Reason.TOMBSTONE, "the value is null (a tombstone)"),
    b"{}": BROKEN,
    encoded(1000, b"A\xff", 7): (Reason.NOT_TEXT, "`type` is not UTF-8"),
}
HEADLESS = (
    Reason.NO_CONFLUENT_HEADER,
    "the value has no Confluent header (a zero and four bytes of schema id)",
)
REASONS_OF_CONFLUENT = {GOOD: HEADLESS, b"\x00\x00": HEADLESS}


def reasons(dead):
    return {each["row"]: each["reason"] for each in dead}


def test_events_and_dead_letters(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [{"value": each} for each in (GOOD, EMPTY, *REASONS, GOOD)])
    read = source(spark, broker, topic, avro=Avro(json.dumps(SCHEMA)))
    assert [str(read.schema.field(name).type) for name in COLUMNS[:3]] == [
        "timestamp[us, tz=UTC]",
        "string",
        "int64",
    ]
    rows, dead, _ = everything(read, COLUMNS)
    assert [(row[1], row[2].second, *row[3:]) for row in rows] == [
        (0, 1, "A", 7, 0),
        (1, 2, "B", None, 1),
        (8, 1, "A", 7, 8),
    ]
    assert reasons(dead) == {row: text for row, (_, text) in enumerate(REASONS.values(), 2)}
    letters = {each["row"]: each["event"] for each in dead}
    assert base64.b64decode(json.loads(letters[2])["base64"]) == GOOD[:-1]
    assert letters[5] is None


def test_the_header_of_confluent(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [b"\x00\x00\x00\x00\x09" + GOOD, *REASONS_OF_CONFLUENT])
    read = source(spark, broker, topic, avro=Avro(json.dumps(SCHEMA), confluent=True))
    rows, dead, _ = everything(read, ["type", "n"])
    assert [row[1:] for row in rows] == [(0, "A", 7)]
    assert reasons(dead) == {1: HEADLESS[1], 2: HEADLESS[1]}
    plain = source(spark, broker, topic, avro=Avro(json.dumps(SCHEMA)))
    assert [row[1] for row in everything(plain, ["type"])[0]] == [1]


def test_schemas_that_are_none(spark, broker, topic, tmp_path):
    file = tmp_path / "event.avsc"
    for text, reason in (
        ("{", "is not an Avro schema"),
        ('"string"', "is not an Avro schema of a record"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=reason):
            read_avsc(file)
    with pytest.raises(InputError, match="cannot read"):
        read_avsc(tmp_path / "none.avsc")
    broker.create(topic)
    file.write_text('{"type": "record", "name": "E", "fields": [{"name": "a", "type": "lng"}]}')
    with pytest.raises(InputError, match=r"the Avro schema is not right: .*lng"):
        source(spark, broker, topic, avro=read_avsc(file))
