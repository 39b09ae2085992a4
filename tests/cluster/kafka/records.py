"""Writes records to a topic, and reads a source as a job would."""

import json

import pyarrow as pa
from confluent_kafka import Producer
from pyspark.sql.functions import spark_partition_id

from cluster.pipelines import reading
from runtime.io.reader import ReadRequest
from runtime.pipeline.event_block import ROW, blocks_of
from spark_ingest.kafka.address import parse_address
from spark_ingest.sources.kafka import KafkaSource
from tools.patience import PATIENCE_S

LIMIT = 64 << 20


def send(broker, topic, records, partition=0):
    """Values, or dicts of what `produce` takes; an object becomes JSON."""
    settings = {"log_level": 0, "queue.buffering.max.messages": 10_000_000}
    producer = Producer({"bootstrap.servers": broker.address, **settings})
    for record in records:
        given = record if isinstance(record, dict) and "value" in record else {"value": record}
        value = given["value"]
        if isinstance(value, dict):
            value = json.dumps(value)
        producer.produce(topic, **{"partition": partition, **given, "value": value})
    assert producer.flush(PATIENCE_S) == 0


def source(spark, broker, topic, **given):
    needs = ReadRequest(**given.pop("needs", {}))
    address = parse_address(f"kafka://{given.pop('servers', broker.address)}/{topic}")
    return KafkaSource(spark, address, needs, **given)


def blocks(found):
    """The blocks of a reading, as a router gets them."""
    frame = found.frame.withColumn("__part", spark_partition_id())
    batches = frame._collect_as_arrow()
    if not batches:
        return []
    table = pa.Table.from_batches(batches)
    parts = []
    for i, origin in enumerate(found.origins):
        mask = pa.compute.equal(table["__part"], i)
        part = table.filter(mask).drop_columns(["__part"])
        parts += blocks_of(part, found.contract, origin)
    return parts


def everything(from_, columns, limit=LIMIT, position=None):
    """All events as (source, row number, values...), all invalid rows, and the last position."""
    position = from_.first() if position is None else position
    rows, dead = [], []
    wanted_by = reading(from_, columns)
    while (wanted := from_.next(position, limit)) is not None:
        for block in blocks(from_.read(wanted, wanted_by)):
            in_time = block.in_time()
            events = in_time.events(wanted_by.routing.event_schema)
            values = [events.column(name).to_pylist() for name in columns]
            names = [block.origin.source] * events.num_rows
            rows += zip(names, in_time.batch.column(ROW).to_pylist(), *values, strict=True)
            dead += block.dead().to_pylist()
        position = wanted.end
    return rows, dead, position
