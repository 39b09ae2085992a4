"""A topic is read by ranges: each record once, in the order of its partition."""

import json
import re
import threading
import time
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewPartitions

from cluster.kafka.records import blocks, everything, send, source
from cluster.pipelines import reading
from runtime.errors import InputError
from runtime.pipeline.event_contract import Reason
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema
from tools.patience import PATIENCE_S

COLUMNS = ["time", "type", "n"]


def event(n):
    return {"time": n, "type": "A" if n % 3 else "B", "n": n}


def test_every_record_once_whatever_the_limit(spark, broker, topic):
    broker.create(topic, 3)
    for partition, count in enumerate((100, 7, 40)):
        send(broker, topic, [event(1000 * partition + i) for i in range(count)], partition)
    whole, dead, end = everything(source(spark, broker, topic), COLUMNS)
    assert dead == []
    assert end == {"topic": topic, "offsets": {"0": 100, "1": 7, "2": 40}}
    expected = [
        (f"{topic}/{partition}", i, n := 1000 * partition + i, "A" if n % 3 else "B", n)
        for partition, count in enumerate((100, 7, 40))
        for i in range(count)
    ]
    assert sorted(whole) == expected
    pieces, _, _ = everything(source(spark, broker, topic), COLUMNS, limit=4000)
    assert len(pieces) == len(expected)
    for each in range(3):
        name = f"{topic}/{each}"
        assert [row for row in pieces if row[0] == name] == [r for r in expected if r[0] == name]


def test_a_range_is_about_as_large_as_asked_and_fair(spark, broker, topic):
    broker.create(topic, 2)
    send(broker, topic, [event(i) for i in range(2000)], 0)
    send(broker, topic, [event(i) for i in range(50)], 1)
    read = source(spark, broker, topic)
    wanted = read.next(read.first(), 20_000)
    assert 10_000 < wanted.bytes <= 20_000
    assert wanted.end["offsets"]["1"] == 50
    assert 100 < wanted.end["offsets"]["0"] < 500
    assert read.backlog(read.first()) == 2050


def test_reading_a_range_again_gives_the_same(spark, broker, topic):
    broker.create(topic, 2)
    for partition in range(2):
        send(broker, topic, [event(i) for i in range(30)], partition)
    read = source(spark, broker, topic, bounded=False)
    wanted = read.next(read.first(), 2000)
    send(broker, topic, [event(i) for i in range(30)], 0)
    pipeline = reading(read, COLUMNS)
    once, again = (
        [(block.origin.source, block.batch) for block in blocks(each)]
        for each in (read.read(wanted, pipeline), read.read(wanted, pipeline))
    )
    assert once == again
    later = source(spark, broker, topic, bounded=False)  # as after a crash
    found = blocks(later.read(wanted, reading(later, COLUMNS)))
    assert [block.batch for block in found] == [batch for _, batch in once]


def test_partitions_keep_their_names_when_there_are_many(spark, broker, topic):
    broker.create(topic, 9)
    for partition in range(9):
        send(broker, topic, [event(partition)], partition)
    rows, _, _ = everything(source(spark, broker, topic), COLUMNS)
    assert sorted(rows) == sorted(
        (f"{topic}/{p}", 0, p, "A" if p % 3 else "B", p) for p in range(9)
    )


def test_bounded_ends_where_the_topic_ended_and_following_goes_on(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [event(0)])
    bounded, following = (source(spark, broker, topic, bounded=each) for each in (True, False))
    assert (bounded.bounded, following.bounded) == (True, False)
    send(broker, topic, [event(1)])
    rows, _, end = everything(bounded, ["n"])
    assert rows == [(f"{topic}/0", 0, 0)]
    assert everything(following, ["n"], position=end)[0] == [(f"{topic}/0", 1, 1)]


def test_new_partitions_are_read_from_their_beginning(spark, broker, topic):
    broker.create(topic, 1)
    send(broker, topic, [event(0)])
    read = source(spark, broker, topic, bounded=False)
    _, _, end = everything(read, ["n"])
    admin = broker.admin()
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(PATIENCE_S)
    while len(admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions) < 2:
        time.sleep(0.05)
    send(broker, topic, [event(1), event(2)], 1)
    rows, _, end = everything(read, ["n"], position=end)
    assert rows == [(f"{topic}/1", 0, 1), (f"{topic}/1", 1, 2)]
    assert end["offsets"] == {"0": 1, "1": 2}


def test_fields_of_kafka_are_attributes(spark, broker, topic):
    broker.create(topic, 2)
    headers = [("region", b"north"), ("region", b"south"), ("other", None)]
    other = {"value": {"n": 2}, "timestamp": 5, "headers": [("region", b"east")]}
    record = {"value": {"n": 1}, "key": "k", "timestamp": 1_700_000_000_123, "headers": headers}
    send(broker, topic, [{**record}, {**other}], 1)
    uses = {
        "n": AttributeKind.NUMBER,
        "header_other": AttributeKind.ANY,
        "kafka_key": AttributeKind.TEXT,
    }
    needs = {"time_column": "kafka_timestamp", "type_column": "header_region", "uses": uses}
    read = source(spark, broker, topic, needs=needs)
    columns = [
        "n",
        "kafka_timestamp",
        "header_region",
        "header_other",
        "kafka_key",
        "kafka_topic",
        "kafka_partition",
        "kafka_offset",
    ]
    assert set(columns) <= set(read.schema.names)
    rows, dead, _ = everything(read, columns)
    when = datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
    early = datetime(1970, 1, 1, 0, 0, 0, 5000, tzinfo=UTC)
    name = f"{topic}/1"
    assert rows == [
        (name, 0, 1, when, "south", None, "k", topic, 1, 0),
        (name, 1, 2, early, "east", None, None, topic, 1, 1),
    ]
    assert dead == []


#: Of the keys of records.
REASONS = {b"\xff": (Reason.NOT_TEXT, "`kafka_key` is not UTF-8")}


def test_without_a_column_of_the_values_they_are_not_looked_at(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [{"value": {"n": 1}, "key": "a"}, {"value": b"\xff", "key": b"b"}])
    send(broker, topic, [{"value": b"x", "key": key} for key in REASONS])
    needs = {"time_column": "kafka_timestamp", "type_column": "kafka_topic", "uses": {}}
    read = source(spark, broker, topic, needs=needs)
    rows, dead, _ = everything(read, ["kafka_key", "kafka_offset"])
    assert rows == [(f"{topic}/0", 0, "a", 0), (f"{topic}/0", 1, "b", 1)]
    found = [(each["row"], each["reason"]) for each in dead]
    assert found == [(2, text) for _, text in REASONS.values()]


def test_bad_rows_have_the_reasons_of_files_and_their_offsets(spark, broker, topic):
    broker.create(topic)
    values = [
        event(0),
        b"{not json",
        b'{"time": 2, "type": "A",\n "n": 2}',  # on two lines, and right
        b'{"time": 3, "type": "A\nB", "n": 3}',  # a line end within a text
        b"",
        {"value": None},
        b"[1]",
        b"\xff{}",
        {"time": 8, "type": "A", "n": "eight"},
        event(9),
    ]
    send(broker, topic, values)
    needs = {"uses": {"n": AttributeKind.NUMBER}}
    rows, dead, _ = everything(source(spark, broker, topic, needs=needs), COLUMNS)
    assert [row[1:] for row in rows] == [(0, 0, "B", 0), (2, 2, "A", 2), (9, 9, "B", 9)]
    assert {each["source"] for each in dead} == {f"{topic}/0"}
    assert {each["row"]: re.sub(r" \(its.*", "", each["reason"]) for each in dead} == {
        1: "malformed JSON",
        3: "malformed JSON",
        4: "malformed JSON",
        5: "the value is null (a tombstone)",
        6: "malformed JSON: not an object",
        7: "the row is not UTF-8",
        8: "`n` is not a whole number",
    }
    by_row = {each["row"]: each["event"] for each in dead}
    assert json.loads(by_row[1]) == "{not json"
    assert by_row[5] == "null"


def test_a_declared_schema_needs_no_records(spark, broker, topic):
    broker.create(topic)
    declared = Schema.from_arrow(pa.schema([("time", "int64"), ("type", "string")]))
    needs = {"declared": declared, "uses": {}}
    read = source(spark, broker, topic, bounded=False, needs=needs)
    assert read.next(read.first(), 1000) is None
    assert [str(each.type) for each in read.schema][:2] == ["int64", "string"]


def test_an_empty_topic_that_ends_has_columns_and_no_rows(spark, broker, topic):
    broker.create(topic)
    read = source(spark, broker, topic, needs={"uses": {"n": AttributeKind.NUMBER}})
    assert everything(read, COLUMNS)[:2] == ([], [])


def test_only_what_is_committed_is_read(spark, broker, topic):
    broker.create(topic)
    producer = Producer({"bootstrap.servers": broker.address, "transactional.id": topic})
    producer.init_transactions(30)

    def transaction(numbers):
        producer.begin_transaction()
        for n in numbers:
            producer.produce(topic, json.dumps(event(n)))
        producer.flush()

    transaction([0, 1])
    producer.commit_transaction()
    transaction([2])
    producer.abort_transaction()
    transaction([3])
    read = source(spark, broker, topic, bounded=False)
    rows, _, end = everything(read, ["n"])
    assert [row[2] for row in rows] == [0, 1]
    producer.commit_transaction()
    while not read.backlog(end):  # the commit is certain before it is seen
        time.sleep(0.05)
    rows, _, _ = everything(read, ["n"], position=end)
    assert [row[2] for row in rows] == [3]


def test_records_that_are_gone_are_an_error_that_says_which(spark, broker, topic):
    broker.create(topic, 2)
    for partition in range(2):
        send(broker, topic, [event(i) for i in range(20)], partition)
    read = source(spark, broker, topic, bounded=False)
    wanted = read.next(read.first(), 1200)
    before = wanted.end["offsets"]["1"]
    assert before < 15
    admin = broker.admin()
    gone = TopicPartition(topic, 1, 15)
    for future in admin.delete_records([gone]).values():
        future.result(PATIENCE_S)
    with pytest.raises(InputError) as caught:
        read.next(wanted.end, 1 << 20)
    assert f"offsets {topic}/1 from {before} to 14" in str(caught.value)
    assert "retention.ms" in caught.value.hint
    with pytest.raises(InputError, match=f"{topic}/1 from 0 to 14"):
        read.read(wanted, reading(read, COLUMNS))
    assert read.next(read.first(), 1 << 20).start["offsets"]["1"] == 15


def test_a_topic_that_is_not_the_checkpoints(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [event(0)])
    read = source(spark, broker, topic)
    with pytest.raises(InputError, match="the checkpoint is of topic `other`"):
        read.next({"topic": "other", "offsets": {}}, 1000)
    with pytest.raises(InputError, match="ends at 1 in partition 0, before 7"):
        read.next({"topic": topic, "offsets": {"0": 7}}, 1000)
    with pytest.raises(InputError, match="has no partition 3 any more"):
        read.next({"topic": topic, "offsets": {"3": 7}}, 1000)
    with pytest.raises(InputError) as caught:
        source(spark, broker, topic + "x")
    assert caught.value.hint == f"did you mean `{topic}`?"


def test_values_that_are_no_json_at_all(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [b"\x00\x01", b"\x02"])
    with pytest.raises(InputError, match="are not JSON objects"):
        source(spark, broker, topic)


def test_a_followed_topic_is_waited_for(spark, broker, topic):
    broker.create(topic)
    said = []
    writing = threading.Timer(2, lambda: send(broker, topic, [event(0)]))
    writing.start()
    read = source(spark, broker, topic, bounded=False, say=said.append)
    writing.join()
    assert said[0].startswith("waiting for the first records of kafka://")
    assert everything(read, ["n"])[0] == [(f"{topic}/0", 0, 0)]


def test_what_times_in_text_turn_out_to_be(spark, broker, topic):
    broker.create(topic)
    send(broker, topic, [{"time": each, "type": "A"} for each in ("x", "2026-01-01T00:00:00Z")])
    read = source(spark, broker, topic)
    assert read.clock() == pa.timestamp("us", "UTC")
    again = source(spark, broker, topic, schema=read.schema)
    assert again.schema == read.schema
    assert source(spark, broker, topic, needs={"time_column": "kafka_timestamp"}).clock() is None
