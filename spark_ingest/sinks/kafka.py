"""Sends results as JSON messages to a Kafka topic, each epoch in one transaction.

The transaction also has a marker of its epoch, in a second topic: the marker exists if and only if
the rows do, so it tells whether an epoch was published. It also has the position that the epoch
read to, so that the epoch can be computed again if its checkpoint was lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from runtime.errors import HamletError
from runtime.pipeline.dead_letter import rows_as_json
from spark_ingest.kafka.address import KafkaAddress
from spark_ingest.kafka.options import KafkaOptions
from spark_ingest.kafka.topic_metadata import PATIENCE, Say, TopicMetadata, silent
from spark_ingest.kafka.transactions import Outgoing, TransactionalProducer
from spark_ingest.sinks.sink import DEAD_LETTER, LATE, EpochSink, ReplayPoint
from spark_ingest.sinks.staging import Staging, packed, unpacked

SIDE = {DEAD_LETTER: "-dead-letter", LATE: "-late"}
EPOCHS = "-epochs"
_TURN = "_turn"
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
        staging: Staging,
        *,
        options: KafkaOptions | None = None,
        patience: float = PATIENCE,
        say: Say = silent,
    ) -> None:
        self._address = address
        self._job = job
        self._staging = staging
        self._options = options or KafkaOptions()
        self._patience = patience
        self._say = say
        self._transactions: TransactionalProducer | None = None
        self._published = -1
        self._made: set[str] = set()

    def stage(
        self, epoch: int, tables: Mapping[str, pa.Table], turn: ReplayPoint | None = None
    ) -> None:
        files = {name: packed(table) for name, table in tables.items()}
        mark = b"" if turn is None else json.dumps(asdict(turn)).encode()
        if 0 < len(mark) <= _LARGEST_TURN:
            files[_TURN] = pa.py_buffer(mark)
        self._staging.write_files(epoch, files)

    def publish(self, epoch: int) -> None:
        if epoch <= self._published:
            return
        staged = self._staging.epochs()
        if epoch not in staged:
            raise HamletError(
                f"the results of epoch {epoch} are not where they were staged, and "
                f"{self._address} does not have them",
                "they are lost if the folder of the checkpoint was emptied",
            )
        files = self._staging.read_files(epoch)
        turn = files.pop(_TURN, None)
        tables = {name: unpacked(data) for name, data in files.items()}
        if any(table.num_rows for table in tables.values()):  # else there is nothing to repeat
            self._send(epoch, tables, None if turn is None else json.loads(turn.to_pybytes()))
        self._published = epoch
        self._drop(each for each in staged if each < epoch)

    def recover(self, committed: int) -> ReplayPoint | None:
        self._create(self._address.topic)
        marked, turn = self._take_over()
        if committed < 0 <= marked:
            # The job starts over: say so, or its epochs could be mistaken for the old ones.
            self._say(f"{self._address} has results of an earlier run of the job `{self._job}`")
            self._send(-1, {})
            marked = -1
        again = turn if marked == committed + 1 else None
        if marked > committed and again is None:
            raise HamletError(
                f"{self._address} has results of the job `{self._job}` up to epoch {marked}, but "
                f"the checkpoint ends with epoch {committed}",
                "the checkpoint is an older copy, or that of another job: give the job another "
                "name and topic, or start anew without the checkpoint",
            )
        self._drop(each for each in self._staging.epochs() if each > committed)
        self._published = marked
        if committed >= 0:
            self.publish(committed)
        if again is not None:
            self._say(
                f"{self._address} has the results of epoch {marked}, but the checkpoint does not: "
                "the epoch is computed once more, and not sent"
            )
        return again

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
        last: dict[str, Any] = {"epoch": -1}
        lookup = self._lookup(self._epochs)
        lookup.settle([0])
        for message in lookup.records(lookup.earliest([0]), most=1 << 62):
            if message.key() == self._job.encode() and message.value():
                last = json.loads(message.value() or b"")
        turn = last.get("turn")
        return int(last["epoch"]), None if turn is None else ReplayPoint(**turn)

    def _send(
        self, epoch: int, tables: Mapping[str, pa.Table], turn: dict[str, Any] | None = None
    ) -> None:
        assert self._transactions is not None, "recover comes first"
        for name, table in tables.items():
            if table.num_rows:
                self._create(self._topic(name))
        mark = {"epoch": epoch} | ({} if turn is None else {"turn": turn})
        marker = Outgoing(self._epochs, self._job, json.dumps(mark))

        def outgoing() -> Iterator[Outgoing]:
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

    def _drop(self, epochs: Iterable[int]) -> None:
        for epoch in list(epochs):
            self._staging.drop(epoch)

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
