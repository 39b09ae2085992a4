"""Queries the metadata of a Kafka topic: partitions, offsets and sample records.

While no broker answers, queries are repeated for some minutes: a restarting broker must not end the
job.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec, TopicDescription

from runtime.errors import HamletError, InputError, did_you_mean
from spark_ingest.kafka.address import KafkaAddress
from spark_ingest.kafka.failures import cause, explain_error, no_entry, passes, unreachable
from spark_ingest.kafka.options import KafkaOptions

PATIENCE = 300.0
ANSWER = 5.0
PAUSE = 0.5
# Sampling records must not fetch the whole topic.
_LITTLE = {
    "fetch.message.max.bytes": 64 << 10,
    "fetch.wait.max.ms": 50,
    "queued.max.messages.kbytes": 512,
}
COMMITTED = IsolationLevel.READ_COMMITTED

Say = Callable[[str], None]
T = TypeVar("T")

_log = logging.getLogger("hamlet.kafka")
_log.addHandler(logging.NullHandler())  # errors have the details


def silent(message: str) -> None:
    """Ignores a message."""


def client_config(address: KafkaAddress, options: KafkaOptions) -> dict[str, Any]:
    """The settings of all librdkafka clients. Their log goes to Python's."""
    return {
        "bootstrap.servers": address.servers,
        "client.id": "hamlet",
        "log.connection.close": False,
        "reconnect.backoff.max.ms": 2_000,
        "logger": _log,
        **options.librdkafka(),
    }


class TopicMetadata:
    def __init__(
        self,
        address: KafkaAddress,
        options: KafkaOptions,
        *,
        patience: float = PATIENCE,
        say: Say = silent,
    ) -> None:
        self._address = address
        self._options = options
        self._patience = patience
        self._say = say
        self._last: KafkaError | None = None
        self._admin = AdminClient(self._config())

    def partitions(self) -> list[int]:
        described = self._description()
        if described is None:
            raise self._no_topic()
        return sorted(each.id for each in described.partitions)

    def exists(self) -> bool:
        return self._description() is not None

    def create(self, partitions: int = -1, **config: str) -> None:
        """Creates the topic, unless it exists, with the broker's defaults for other settings."""
        if self.exists():  # checked first: it needs fewer rights
            return
        self._request(partitions, config)
        self.ask(self._appeared)

    def check_creatable(self, partitions: int = -1, **config: str) -> None:
        """Raises what `create` would raise. Creates nothing."""
        if not self.exists():
            self._request(partitions, config, validate_only=True)

    def _request(
        self, partitions: int, config: dict[str, str], validate_only: bool = False
    ) -> None:
        new = NewTopic(self._address.topic, partitions, -1, config=config)
        try:
            self.ask(lambda: _only(self._admin.create_topics([new], validate_only=validate_only)))
        except _BrokerRefusal as refused:
            if refused.error.code() != KafkaError.TOPIC_ALREADY_EXISTS:  # another client was first
                raise

    def earliest(self, partitions: Iterable[int]) -> dict[int, int]:
        return self._offsets(partitions, OffsetSpec.earliest(), COMMITTED)

    def latest(self, partitions: Iterable[int]) -> dict[int, int]:
        """The offsets after the last records that no open transaction hides."""
        return self._offsets(partitions, OffsetSpec.latest(), COMMITTED)

    def settle(self, partitions: Iterable[int]) -> None:
        """Waits until all transactions that are open now have ended: an open one hides the records
        that others commit after it."""
        ends = self._offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)
        said = False
        while any(end < ends[each] for each, end in self.latest(ends).items()):
            if not said:
                self._say(f"waiting for an open transaction in topic {self._address.topic}")
            said = True
            time.sleep(PAUSE)

    def records(self, starts: Mapping[int, int], most: int) -> Iterator[Message]:
        """The first records from these offsets on, about `most` bytes, evenly from all partitions.
        The same offsets give the same records."""
        consumer = self._consumer()
        share = most // max(1, len(starts))
        try:
            for partition, offset in sorted(starts.items()):
                yield from self._from(consumer, partition, offset, share)
        finally:
            consumer.close()

    def ask(self, question: Callable[[], T]) -> T:
        """Calls until there is no transient error. Other errors raise a HamletError."""
        since = time.monotonic()
        said = False
        while True:
            try:
                answer = question()
            except KafkaException as error:
                self._consider(cause(error), time.monotonic() - since)
                if not said:
                    reason = (self._last or cause(error)).str()
                    self._say(f"Kafka at {self._address.servers} does not answer: {reason}")
                said = True
                time.sleep(PAUSE)
                continue
            if said:
                self._say(f"Kafka at {self._address.servers} answers again")
            self._last = None
            return answer

    def _consider(self, error: KafkaError, waited: float) -> None:
        self._admin.poll(0)  # calls _note_error, which gets more details
        if self._last is not None and no_entry(self._last):
            raise explain_error(self._last, self._address)
        if not passes(error):
            raise _BrokerRefusal(error, self._address)
        if waited > self._patience:
            raise unreachable(self._address, waited, self._last or error)

    def _description(self) -> TopicDescription | None:
        """None if there is no such topic. This call does not create it."""
        requested = TopicCollection([self._address.topic])
        try:
            return self.ask(
                lambda: _only(self._admin.describe_topics(requested, request_timeout=ANSWER))
            )
        except _BrokerRefusal as refused:
            if refused.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            return None

    def _appeared(self) -> None:
        if self._address.topic not in self._admin.list_topics(timeout=ANSWER).topics:
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))

    def _offsets(
        self, partitions: Iterable[int], which: OffsetSpec, level: IsolationLevel
    ) -> dict[int, int]:
        requested = {TopicPartition(self._address.topic, each): which for each in partitions}
        if not requested:
            return {}

        def question() -> dict[int, int]:
            answers = self._admin.list_offsets(
                requested, isolation_level=level, request_timeout=ANSWER
            )
            return {each.partition: answer.result().offset for each, answer in answers.items()}

        return self.ask(question)

    def _from(
        self, consumer: Consumer, partition: int, offset: int, most: int
    ) -> Iterator[Message]:
        consumer.assign([TopicPartition(self._address.topic, partition, offset)])
        while most > 0:
            message = self.ask(lambda: _next(consumer))
            if message is None:
                return
            most -= size(message)
            yield message

    def _consumer(self) -> Consumer:
        return Consumer(
            {
                **self._config(),
                **_LITTLE,
                "group.id": "hamlet",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
            }
        )

    def _config(self) -> dict[str, Any]:
        return {**client_config(self._address, self._options), "error_cb": self._note_error}

    def _note_error(self, error: KafkaError) -> None:
        self._last = error

    def _no_topic(self) -> InputError:
        found = self.ask(lambda: self._admin.list_topics(timeout=ANSWER).topics)
        there = [name for name in found if not name.startswith("_")]
        topic, servers = self._address.topic, self._address.servers
        return InputError(f"there is no topic `{topic}` at {servers}", did_you_mean(topic, there))


class _BrokerRefusal(HamletError):
    """The broker rejected a request."""

    def __init__(self, error: KafkaError, address: KafkaAddress) -> None:
        explanation = explain_error(error, address)
        super().__init__(explanation.message, explanation.hint)
        self.error = error


def _only(answers: Mapping[str, Future[T]]) -> T:
    (answer,) = answers.values()
    return answer.result()


def _next(consumer: Consumer) -> Message | None:
    """The next record, None at the end of the partition."""
    message = consumer.poll(ANSWER)
    if message is None:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
    error = message.error()
    if error is None:
        return message
    if error.code() == KafkaError._PARTITION_EOF:
        return None
    raise KafkaException(error)


def size(message: Message) -> int:
    """The approximate bytes of a record, including its offset and times."""
    headers = sum(len(name) + len(value or b"") for name, value in _headers(message))
    return 32 + len(message.value() or b"") + len(message.key() or b"") + headers


def _headers(message: Message) -> list[tuple[str, bytes | None]]:
    found: Any = message.headers()  # declared as more than it ever is
    return found or []
