"""Sends results as JSON messages to a Kafka topic, each epoch in one transaction.

The transaction also has a marker of its epoch, in a second topic: the marker exists if and only if
the rows do, so it tells whether an epoch was published. It also has the position that the epoch
read to, so that the epoch can be computed again if its checkpoint was lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

import pyarrow as pa

from runtime.errors import HamletError
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.pipeline.checkpoint import OwnershipLost
from runtime.pipeline.dead_letter import rows_as_json
from runtime.pipeline.epoch_record import Results
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.kafka.address import KafkaAddress
from spark_ingest.kafka.options import KafkaOptions
from spark_ingest.kafka.topic_metadata import PATIENCE, Say, TopicMetadata, silent
from spark_ingest.kafka.transactions import Outgoing, TransactionalProducer
from spark_ingest.sinks.sink import EpochSink, ReplayPoint

SIDE = {DEAD_LETTER: "-dead-letter", LATE: "-late"}
EPOCHS = "-epochs"
# Brokers accept messages of a megabyte. A folder with tens of thousands of files has a longer
# position: then a damaged checkpoint cannot be recovered and is rejected.
_LARGEST_TURN = 1 << 19
# The epoch of a marker, and its replay point if it has one.
Marker = tuple[int, ReplayPoint | None]
_NO_MARKER: Marker = (-1, None)
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
        check_owner: Callable[[], None] = lambda: None,
    ) -> None:
        """`check_owner` raises if another run has taken the checkpoint over."""
        self._address = address
        self._job = job
        self._check_owner = check_owner
        self._options = options or KafkaOptions()
        self._patience = patience
        self._say = say
        self._transactions: TransactionalProducer | None = None
        self._published = -1
        self._marker = _NO_MARKER  #: the last one that is known
        self._made: set[str] = set()

    @property
    def address(self) -> str:
        return f"--output {self._address}"

    def publish(self, epoch: int, results: Iterable[Results], replay: ReplayPoint | None) -> None:
        if epoch <= self._published:
            return
        tables = list(results)
        if any(table.num_rows for each in tables for table in each.values()):
            self._deliver(epoch, tables, replay)
        self._published = epoch

    def recover(self, committed: int) -> ReplayPoint | None:
        self._create(self._address.topic)
        self._take_over()
        if committed < 0 <= self._marker[0]:
            # The job starts over: say so, or its epochs could be mistaken for the old ones.
            self._say(f"{self._address} has results of an earlier run of the job `{self._job}`")
            self._deliver(-1, [])
        marked = self._published = self._marker[0]
        if marked <= committed:
            return None
        self._check_owner()  # it may be the epoch of a run that has taken over
        again = self._replayed(committed)
        self._say(
            f"{self._address} has the results of epoch {marked}, but the checkpoint does not: "
            "the epoch is recomputed but not sent"
        )
        return again

    def check(self, committed: Callable[[], int] | None = None) -> None:
        """Raises an error if the brokers do not let this user in, or refuse its topics, or if they
        have results that the checkpoint does not know: it ends with the epoch `committed`. Writes
        nothing, and does not disturb a run that publishes to them."""
        self._lookup(self._address.topic).check_creatable()
        epochs = self._lookup(self._epochs)
        epochs.check_creatable(1, **_MARKERS)
        if committed is not None and epochs.exists():
            self._marker = self._last_marker(epochs)  # first: that run goes on
            last = committed()
            if last >= 0 and self._marker[0] > last:
                self._replayed(last)

    def _replayed(self, committed: int) -> ReplayPoint:
        """How to compute the epoch again that was published although its checkpoint is lost."""
        marked, replay = self._marker
        if marked == committed + 1 and replay is not None:
            return replay
        raise HamletError(
            f"{self._address} has results of the job `{self._job}` up to epoch {marked}, but "
            f"the checkpoint ends with epoch {committed}",
            "the checkpoint is an older copy, or that of another job: give the job another "
            "name and topic, or start over without the checkpoint",
        )

    def close(self) -> None:
        if self._transactions is not None:
            self._transactions.close()
        self._transactions = None

    # ---- who may publish -------------------------------------------------------------------

    def _take_over(self) -> None:
        """Fences every other producer of the job, and reads its last marker when none of them can
        publish. A run that is no owner any more must not do so: it may have been paused before."""
        self._create(self._epochs, partitions=1, **_MARKERS)
        self._check_owner()
        self._transactions = TransactionalProducer(
            self._address, self._options, self._job, patience=self._patience, say=self._say
        )
        lookup = self._lookup(self._epochs)
        lookup.settle([0])
        self._marker = self._last_marker(lookup)

    def _last_marker(self, lookup: TopicMetadata) -> Marker:
        last = _NO_MARKER
        for message in lookup.records(lookup.earliest([0]), most=1 << 62):
            if message.key() == self._job.encode() and message.value():
                last = parsed_mark(message.value() or b"", f"the last marker in {self._epochs}")
        return last

    def _deliver(
        self, epoch: int, results: list[Results], replay: ReplayPoint | None = None
    ) -> None:
        """Sends an epoch exactly once. A run that was paused before it knew that this one has taken
        over may fence this one when it wakes up. It is no owner, and ends, and this one goes on."""
        while True:
            try:
                self._send(epoch, results, replay)
            except OwnershipLost as fenced:
                self._check_owner()
                if self._is_sent(epoch, replay, fenced):
                    return
            else:
                self._marker = _as_read(epoch, replay)
                return

    def _is_sent(self, epoch: int, replay: ReplayPoint | None, fenced: OwnershipLost) -> bool:
        """Takes the sink back. Its last marker is the one before the epoch, or that of the epoch if
        it was being committed. With any other one, a copy of the checkpoint is in use elsewhere."""
        self._say(f"an older run of the job used {self._address} for a moment: taking it back")
        before = self._marker
        self.close()
        self._take_over()
        if self._marker not in (before, _as_read(epoch, replay)):
            raise fenced
        return self._marker != before

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


def _as_read(epoch: int, replay: ReplayPoint | None) -> Marker:
    """What a run reads that finds the marker of this epoch."""
    return parsed_mark(_mark(epoch, replay).encode(), "the marker")


def parsed_mark(mark: bytes, name: str) -> Marker:
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
            "over with another --checkpoint folder",
        ) from error
