"""Sends results as JSON messages to a Kafka topic, each epoch in one transaction.

The transaction also has a marker of its epoch, in a second topic: the marker exists if and only if
the rows do, so it tells whether an epoch was published. It also has the position that the epoch
read to, so that the epoch can be computed again if its checkpoint was lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import pyarrow as pa

from runtime.errors import HamletError
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.pipeline.dead_letter import rows_as_json
from runtime.pipeline.epoch_record import Results
from spark_ingest.kafka.address import KafkaAddress
from spark_ingest.kafka.options import KafkaOptions
from spark_ingest.kafka.topic_metadata import PATIENCE, Say, TopicMetadata, silent
from spark_ingest.kafka.transactions import Outgoing, TransactionalProducer
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, EpochSink, ReplayPoint

SIDE = {DEAD_LETTER: "-dead-letter", LATE: "-late"}
EPOCHS = "-epochs"
# Brokers accept messages of a megabyte. A folder with tens of thousands of files has a longer
# position: then a damaged checkpoint cannot be recovered and is rejected.
_LARGEST_TURN = 1 << 19
# Compacted every hour, so that finding the last marker stays fast.
_MARKERS = {"cleanup.policy": "compact", "segment.ms": "3600000"}


class KafkaSink(EpochSink):
    """Call `recover` first: it creates the topics and fences an earlier process of the job."""

    def __init__(
        self,
        address: KafkaAddress,
        job: str,
        *,
        options: KafkaOptions | None = None,
        patience: float = PATIENCE,
        say: Say = silent,
    ) -> None:
        self._address = address
        self._job = job
        self._options = options or KafkaOptions()
        self._patience = patience
        self._say = say
        self._transactions: TransactionalProducer | None = None
        self._published = -1
        self._made: set[str] = set()

    @property
    def address(self) -> str:
        return f"--output {self._address}"

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        if epoch <= self._published:
            return
        tables = list(results)
        if any(table.num_rows for each in tables for table in each.values()):
            self._send(epoch, tables, replay)
        self._published = epoch

    def recover(self, committed: int) -> ReplayPoint | None:
        self._create(self._address.topic)
        marked, turn = self._take_over()
        if committed < 0 <= marked:
            # The job starts over: say so, or its epochs could be mistaken for the old ones.
            self._say(f"{self._address} has results of an earlier run of the job `{self._job}`")
            self._send(-1, [])
            marked = -1
        again = turn if marked == committed + 1 else None
        if marked > committed and again is None:
            raise HamletError(
                f"{self._address} has results of the job `{self._job}` up to epoch {marked}, but "
                f"the checkpoint ends with epoch {committed}",
                "the checkpoint is an older copy, or that of another job: give the job another "
                "name and topic, or start over without the checkpoint",
            )
        self._published = marked
        if again is not None:
            self._say(
                f"{self._address} has the results of epoch {marked}, but the checkpoint does not: "
                "the epoch is recomputed but not sent"
            )
        return again

    def check(self) -> None:
        """Raises an error if the brokers do not let this user in, or refuse its topics. Writes
        nothing, and does not disturb a run that publishes to them."""
        self._lookup(self._address.topic).check_creatable()
        self._lookup(self._epochs).check_creatable(1, **_MARKERS)

    def close(self) -> None:
        if self._transactions is not None:
            self._transactions.close()
        self._transactions = None

    def _take_over(self) -> tuple[int, ReplayPoint | None]:
        """The last published epoch, or -1. Read when no other process can publish."""
        self._create(self._epochs, partitions=1, **_MARKERS)
        self._transactions = TransactionalProducer(
            self._address, self._options, self._job, patience=self._patience, say=self._say
        )
        last: tuple[int, ReplayPoint | None] = -1, None
        lookup = self._lookup(self._epochs)
        lookup.settle([0])
        for message in lookup.records(lookup.earliest([0]), most=1 << 62):
            if message.key() == self._job.encode() and message.value():
                last = parsed_mark(message.value() or b"", f"the last marker in {self._epochs}")
        return last

    def _send(self, epoch: int, results: list[Results], replay: ReplayPoint | None = None) -> None:
        assert self._transactions is not None, "recover comes first"
        for name in {name for tables in results for name, rows in tables.items() if rows.num_rows}:
            self._create(self._topic(name))
        marker = Outgoing(self._epochs, self._job, _mark(epoch, replay))

        def outgoing() -> Iterator[Outgoing]:
            for tables in results:
                for name, table in tables.items():
                    for batch in table.to_batches():
                        yield from self._messages(name, batch)
            yield marker

        self._transactions.send(outgoing)

    def _messages(self, name: str, rows: pa.RecordBatch) -> Iterator[Outgoing]:
        topic = self._topic(name)
        if name in SIDE:
            for row in rows_as_json(rows):
                yield Outgoing(topic, None, row)
            return
        query = json.dumps(name, ensure_ascii=False)
        for row in rows_as_json(rows):
            yield Outgoing(topic, name, f'{{"query": {query}, "row": {row}}}')

    def _topic(self, name: str) -> str:
        return self._address.topic + SIDE.get(name, "")

    @property
    def _epochs(self) -> str:
        return self._address.topic + EPOCHS

    def _create(self, topic: str, partitions: int = -1, **config: str) -> None:
        if topic not in self._made:
            self._lookup(topic).create(partitions, **config)
        self._made.add(topic)

    def _lookup(self, topic: str) -> TopicMetadata:
        address = KafkaAddress(self._address.brokers, topic)
        return TopicMetadata(address, self._options, patience=self._patience, say=self._say)


def _mark(epoch: int, replay: ReplayPoint | None) -> str:
    """The marker of an epoch, with its replay point if that fits into a message."""
    mark = {"epoch": epoch}
    if replay is None:
        return json.dumps(mark)
    whole = json.dumps({**mark, "turn": asdict(replay)})
    return whole if len(whole) <= _LARGEST_TURN else json.dumps(mark)


def parsed_mark(mark: bytes, name: str) -> tuple[int, ReplayPoint | None]:
    """The epoch of a marker, and its replay point. Others than runs may write to its topic."""
    try:
        said = json.loads(mark)
        epoch, turn = said["epoch"], said.get("turn")
        if type(epoch) is not int:
            raise TypeError(f"the epoch is {epoch!r}")
        return epoch, None if turn is None else ReplayPoint.from_json(turn)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptCheckpoint(
            f"{name} is not one of Hamlet: {error}",
            "only runs of Hamlet may write to that topic; give the job another topic, or start "
            "anew with another --checkpoint folder",
        ) from error
