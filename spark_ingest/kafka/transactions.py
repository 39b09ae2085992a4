"""Sends messages to Kafka in transactions: readers of committed records see all or none."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from runtime.errors import EnvironmentFailure
from runtime.pipeline.checkpoint import OwnershipLost
from spark_ingest.kafka.address import KafkaAddress
from spark_ingest.kafka.failures import cause, explain_error, no_entry, unreachable
from spark_ingest.kafka.options import KafkaOptions
from spark_ingest.kafka.topic_metadata import PATIENCE, Say, client_config, silent

# A job that was killed and not restarted blocks readers of its topic for this long.
TIMEOUT = 300.0
ANSWER = 10.0
PAUSE = 0.5

_FENCED = (
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
)
_FOR_GOOD = (
    KafkaError._UNKNOWN_TOPIC,
    KafkaError.INVALID_RECORD,
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


@dataclass(frozen=True)
class Outgoing:
    topic: str
    key: str | None
    value: str


class TransactionalProducer:
    """The producer of one job. A new producer with the job's name fences earlier ones."""

    def __init__(
        self,
        address: KafkaAddress,
        options: KafkaOptions,
        job: str,
        *,
        patience: float = PATIENCE,
        say: Say = silent,
    ) -> None:
        self._address = address
        self._job = job
        self._patience = patience
        self._say = say
        self._last: KafkaError | None = None
        self._refused: KafkaError | None = None
        self._producer = Producer(
            {
                **client_config(address, options),
                "transactional.id": f"hamlet-{job}",
                "transaction.timeout.ms": int(TIMEOUT * 1000),
                "compression.type": "lz4",
                "linger.ms": 5,
                "error_cb": self._note_error,
            }
        )
        # Ends the open transaction of an earlier process: a commit in progress is completed,
        # everything else is aborted.
        self._retry_step(lambda: self._producer.init_transactions(ANSWER))

    def send(self, messages: Callable[[], Iterable[Outgoing]]) -> None:
        """Sends all messages exactly once. A repeated transaction calls `messages` again."""
        since = time.monotonic()
        while not self._attempt(messages):
            if time.monotonic() - since > self._patience:
                raise unreachable(self._address, self._patience, self._last)
            time.sleep(PAUSE)

    def close(self) -> None:
        with warnings.catch_warnings():  # about a transaction that we cannot abort any more
            warnings.simplefilter("ignore", RuntimeWarning)
            self._producer.close()

    def _attempt(self, messages: Callable[[], Iterable[Outgoing]]) -> bool:
        """Whether the transaction was committed; if not, it was aborted."""
        self._refused = None
        try:
            self._retry_step(self._producer.begin_transaction)
            for each in messages():
                self._produce(each)
            self._retry_step(lambda: self._producer.commit_transaction(ANSWER))
        except _Abortable as error:
            self._retry_step(lambda: self._producer.abort_transaction(ANSWER))
            if self._refused is not None:
                raise explain_error(self._refused, self._address) from error
            self._say(f"Kafka rejected a transaction, sending it again: {error}")
            return False
        except KafkaException as error:
            self._retry_step(lambda: self._producer.abort_transaction(ANSWER))
            raise explain_error(cause(error), self._address) from error
        return True

    def _produce(self, message: Outgoing) -> None:
        while True:
            try:
                self._producer.produce(
                    message.topic, message.value, message.key, on_delivery=self._delivered
                )
            except BufferError:  # its queue is full
                self._producer.poll(0.1)
                self._giving_up()
                continue
            except KafkaException as error:
                raise self._sorted(cause(error)) from error
            self._producer.poll(0)
            return

    def _retry_step(self, step: Callable[[], object]) -> None:
        """Runs a step of the protocol, and repeats it while no broker answers."""
        since = time.monotonic()
        said = False
        while True:
            try:
                step()
            except KafkaException as error:
                found = cause(error)
                if not (found.retriable() or found.code() == KafkaError._TIMED_OUT):
                    raise self._sorted(found) from error
                self._giving_up()
                if time.monotonic() - since > self._patience:
                    raise unreachable(self._address, self._patience, self._last or found) from error
                if not said:
                    self._say(f"Kafka at {self._address.servers} does not answer: {found.str()}")
                said = True
                time.sleep(PAUSE)
                continue
            self._last = None
            return

    def _giving_up(self) -> None:
        self._producer.poll(0)  # runs _note_error
        if self._last is not None and no_entry(self._last):
            raise explain_error(self._last, self._address)

    def _sorted(self, error: KafkaError) -> Exception:
        if error.code() in _FENCED:
            return OwnershipLost(
                f"another process runs the job `{self._job}` and has taken over its output to "
                f"{self._address}",
                "this one ends without harm; concurrent jobs need a --checkpoint each",
            )
        if error.txn_requires_abort():
            return _Abortable(error)
        if error.fatal():
            return EnvironmentFailure(
                f"{self._address}: {error.str()}",
                "start the job again: it continues with the missing epoch",
            )
        return KafkaException(error)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        """Records an error that a retry would not fix. Many messages fail only because the
        transaction does."""
        if error is not None and error.code() in _FOR_GOOD:
            self._refused = error

    def _note_error(self, error: KafkaError) -> None:
        self._last = error


class _Abortable(Exception):
    """The transaction cannot be committed, but another one can."""

    def __init__(self, error: KafkaError) -> None:
        super().__init__(error.str())
