"""Reads a Kafka topic with Spark, by ranges of offsets.

A range is a batch frame with one partition for each partition of the topic, so that its records are
in order and share a clock. Only committed records are read, not those of open or aborted
transactions.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from confluent_kafka import Message
from pyspark.sql import DataFrame, SparkSession

from runtime.errors import InputError
from runtime.io.kafka_fields import HEADER, with_kafka_fields
from runtime.io.reader import ReadRequest
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.pipeline.event_block import Origin
from runtime.pipeline.event_contract import EventContract
from runtime.types.time_codec import TimeCodec
from spark_ingest.kafka.address import KafkaAddress
from spark_ingest.kafka.avro import Avro, AvroValues
from spark_ingest.kafka.options import KafkaOptions
from spark_ingest.kafka.own_fields import records, with_own_fields
from spark_ingest.kafka.quota import PartitionSizes, fair_shares
from spark_ingest.kafka.topic_metadata import PATIENCE, Say, TopicMetadata, silent
from spark_ingest.kafka.values import JsonValues, Values
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.source import Position, SourceFrame, SourceRange, StreamSource

# Bytes of the first records, to infer the types of columns.
SAMPLE_BYTES = 4 << 20
# Bytes of the next records, to estimate sizes.
GLANCE_BYTES = 64 << 10
PAUSE = 0.5
# The interval at which the end of the topic is recorded.
KNOWN_LENGTHS = 10_000
# Fixed, so that Spark reuses the consumers of the last epoch and their fetched records.
GROUP = "hamlet"
# Takes half the time of 500 records and 1 MiB, for 180,000 records of 120 bytes.
LARGE_FETCHES = {"kafka.max.poll.records": "10000", "kafka.max.partition.fetch.bytes": "4194304"}

Offsets = dict[int, int]


class KafkaSource(StreamSource):
    counts_in = "records"

    def __init__(
        self,
        spark: SparkSession,
        address: KafkaAddress,
        needs: ReadRequest,
        *,
        options: KafkaOptions | None = None,
        avro: Avro | None = None,
        bounded: bool = True,
        schema: pa.Schema | None = None,
        unit: str | None = None,
        patience: float = PATIENCE,
        say: Say = silent,
    ) -> None:
        """A bounded source ends at the current end of the topic. `schema` is of an earlier run;
        otherwise `needs` declares all columns, or they are inferred from the first records, for
        which a followed topic is polled."""
        self.name = str(address)
        self.bounded = bounded
        self._spark = spark
        self._address = address
        self._options = options or KafkaOptions()
        self._say = say
        self._lookup = TopicMetadata(address, self._options, patience=patience, say=say)
        self._until = self._lookup.latest(self._lookup.partitions()) if bounded else None
        self._sizes = PartitionSizes()
        self._lengths: deque[tuple[float, Offsets]] = deque(maxlen=KNOWN_LENGTHS)
        self._values: Values = (
            JsonValues(needs, self.name) if avro is None else AvroValues(spark, avro)
        )
        named = (needs.time_column, needs.type_column, *(needs.uses or ()))
        self.schema = schema or with_kafka_fields(self._values.schema(self._first_values), named)
        self._needs = needs
        self._time = needs.time_column
        self._unit = unit

    def first(self) -> Position:
        return self._position({})

    def next(self, position: Position, limit: int) -> SourceRange | None:
        starts, ends = self._span(position)
        waiting = {each: ends[each] - starts[each] for each in ends if ends[each] > starts[each]}
        if not waiting:
            return None
        if self._sizes.old() and sum(waiting.values()) * self._sizes.bytes > limit / 2:
            glance = self._lookup.records({each: starts[each] for each in waiting}, GLANCE_BYTES)
            self._sizes.add(glance)
        taken = fair_shares(waiting, int(limit / self._sizes.bytes))
        reached = {each: starts[each] + taken.get(each, 0) for each in starts}
        about = int(sum(taken.values()) * self._sizes.bytes)
        came = self._arrived(reached)
        return SourceRange(
            self._position(starts), self._position(reached), bytes=about, arrived=came
        )

    def _arrived(self, reached: Offsets) -> float:
        """When the topic was first seen to reach these offsets."""
        for moment, ends in tuple(self._lengths):  # other threads may append
            if _as_far(ends, reached):
                return moment
        return time.time()

    def between(self, start: Position, end: Position) -> SourceRange:
        """A new partition starts at its beginning."""
        known, reached = self._offsets(start), self._offsets(end)
        earliest = self._lookup.earliest([each for each in reached if each not in known])
        return SourceRange(self._position({**earliest, **known}), end)

    def read(self, wanted: SourceRange, pipeline: EventPipeline) -> SourceFrame:
        starts, ends = self._offsets(wanted.start), self._offsets(wanted.end)
        work = {each: (starts[each], ends[each]) for each in ends if ends[each] > starts[each]}
        self._reject_lost(starts, self._lookup.earliest(work))
        target = pa.schema([self.schema.field(name) for name in pipeline.columns])
        contract = self._needs.contract(target)
        rows = self._values.parse(self._records(work, contract), contract)
        planned = pipeline.apply(with_own_fields(rows))
        frame, partitions = _fixed(planned, self._spark)
        topic = self._address.topic
        names = [f"{topic}/{each}" for each in partitions]
        came = [self._arrived({each: ends[each]}) for each in partitions]
        origins = [
            Origin(name, name, arrived, first=None)
            for name, arrived in zip(names, came, strict=True)
        ]
        executions = (planned._jdf.queryExecution(),)
        return SourceFrame(frame, contract, origins, range(len(origins)), executions=executions)

    def check(self) -> None:
        self._lookup.partitions()

    def committed(self, position: Position) -> None:
        """Drops the arrival times of committed records."""
        reached = self._offsets(position)
        while len(self._lengths) > 1 and not _as_far(self._lengths[0][1], reached):
            self._lengths.popleft()

    def clock(self) -> pa.DataType | None:
        clock = TimeCodec(self.schema.field(self._time).type, self._unit)
        if clock.decided:
            return None
        self._values.decide_clock(clock, self._first_values())
        return clock.type if clock.decided else None

    def backlog(self, position: Position) -> int:
        """In records, including those of aborted transactions."""
        starts, ends = self._span(position)
        return sum(max(0, ends[each] - starts[each]) for each in ends)

    def _span(self, position: Position) -> tuple[Offsets, Offsets]:
        """The start and end offsets of unread records in each partition. A new partition is read
        from its beginning."""
        known = self._offsets(position)
        there = self._lookup.partitions()
        missing = sorted(set(known) - set(there))
        if missing:
            raise self._recreated(f"has no partition {missing[0]} any more")
        ends = self._lookup.latest(there) if self._until is None else self._until
        if self._until is None and (not self._lengths or self._lengths[-1][1] != ends):
            self._lengths.append((time.time(), ends))
        earliest = self._lookup.earliest(ends)
        self._reject_lost(known, earliest)
        for each, start in known.items():
            if start > ends.get(each, start):
                raise self._recreated(f"ends at {ends[each]} in partition {each}, before {start}")
        return {**earliest, **known}, ends

    def _reject_lost(self, starts: Mapping[int, int], earliest: Mapping[int, int]) -> None:
        """Rejects a range with deleted records: they are never skipped silently."""
        lost = {
            each: (starts[each], first)
            for each, first in earliest.items()
            if each in starts and starts[each] < first
        }
        if lost:
            topic = self._address.topic
            spans = ", ".join(
                f"{topic}/{each} from {start} to {first - 1}"
                for each, (start, first) in sorted(lost.items())
            )
            raise InputError(
                f"records that were not read yet are gone from Kafka: offsets {spans}",
                "the topic keeps records for too short a time (retention.ms, retention.bytes) or "
                "someone has deleted them; to continue without them, start over without the "
                "checkpoint",
            )

    def _recreated(self, what: str) -> InputError:
        return InputError(
            f"topic `{self._address.topic}` {what}, where the checkpoint continues",
            "it was probably deleted and created again; start over without the checkpoint",
        )

    def _records(self, work: Mapping[int, tuple[int, int]], contract: EventContract) -> DataFrame:
        topic, names = self._address.topic, contract.columns.names
        given = {
            "kafka.bootstrap.servers": self._address.servers,
            "kafka.group.id": GROUP,
            "kafka.isolation.level": "read_committed",
            **LARGE_FETCHES,
            "failOnDataLoss": "true",
            "includeHeaders": str(any(each.startswith(HEADER) for each in names)).lower(),
            "assign": json.dumps({topic: sorted(work)}),
            "startingOffsets": json.dumps({topic: {each: work[each][0] for each in work}}),
            "endingOffsets": json.dumps({topic: {each: work[each][1] for each in work}}),
            **{f"kafka.{name}": value for name, value in self._options.java().items()},
        }
        return records(self._spark.read.format("kafka").options(**given).load(), names)

    def _first_values(self) -> list[bytes | None]:
        self._await_records()
        starts = self._lookup.earliest(self._lookup.partitions())
        records: list[Message] = list(self._lookup.records(starts, SAMPLE_BYTES))
        self._sizes.add(records)
        return [each.value() for each in records]

    def _await_records(self) -> None:
        """Waits until a followed topic has records, to infer its columns."""
        said = False
        while not self.bounded and not self.backlog(self.first()):
            if not said:
                self._say(
                    f"waiting for the first records of {self.name}, from which the types of its "
                    "columns are taken (--schema declares them)"
                )
            said = True
            time.sleep(PAUSE)

    def _position(self, offsets: Mapping[int, int]) -> Position:
        numbered = {str(each): offsets[each] for each in sorted(offsets)}
        return {"topic": self._address.topic, "offsets": numbered}

    def _offsets(self, position: Position) -> Offsets:
        topic = position.get("topic")
        if topic != self._address.topic:
            raise InputError(
                f"the checkpoint is of topic `{topic}`, not of `{self._address.topic}`",
                "start over without the checkpoint, or give its topic",
            )
        try:
            offsets = {int(each): int(offset) for each, offset in position["offsets"].items()}
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise CorruptCheckpoint(
                f"the position in {self.name} has no offsets: {error}"
            ) from error
        if any(number < 0 for pair in offsets.items() for number in pair):  # Spark: "the latest"
            raise CorruptCheckpoint(f"the position in {self.name} has an offset below 0")
        return offsets


def _as_far(ends: Offsets, reached: Offsets) -> bool:
    return all(ends.get(partition, 0) >= end for partition, end in reached.items())


def _fixed(frame: DataFrame, spark: SparkSession) -> tuple[DataFrame, list[int]]:
    """The same frame, planned once, and the topic's partition of each of its partitions.

    Spark chooses their order, and could choose another one with every plan of the frame.
    """
    rows = frame._jdf.queryExecution().toRdd()
    partitions = [_topic_partition(each) for each in rows.partitions()]
    session: Any = spark._jsparkSession
    fixed = session.internalCreateDataFrame(rows, frame._jdf.schema(), False)
    return DataFrame(fixed, spark), partitions


def _topic_partition(partition: Any) -> int:
    if partition.getClass().getSimpleName() == "DataSourceRDDPartition":  # reader of version 2
        partition = partition.inputPartitions().head()
    return int(partition.offsetRange().topicPartition().partition())
