"""Classifies Kafka's errors: retry, or report to the user."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from runtime.errors import EnvironmentFailure, HamletError, InputError
from spark_ingest.kafka.address import KafkaAddress

# A cluster that is starting, stopping or electing a leader.
_PASSING = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError._WAIT_COORD,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.NOT_CONTROLLER,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
    }
)
_NO_ENTRY = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
    }
)
_FORBIDDEN = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


def cause(error: KafkaException) -> KafkaError:
    found: KafkaError = error.args[0]
    return found


def passes(error: KafkaError) -> bool:
    """Whether to retry."""
    return error.code() in _PASSING or bool(error.retriable())


def no_entry(error: KafkaError) -> bool:
    return error.code() in _NO_ENTRY


def explain_error(error: KafkaError, address: KafkaAddress) -> HamletError:
    text = f"{address}: {error.str()}"
    if no_entry(error):
        return InputError(text, "check the file of --kafka-options")
    if error.code() in _FORBIDDEN:
        return InputError(text, "the user of --kafka-options lacks a right (ACL) on the cluster")
    return EnvironmentFailure(text)


def unreachable(address: KafkaAddress, seconds: float, last: KafkaError | None) -> HamletError:
    reason = "" if last is None else f"; the last error: {last.str()}"
    return EnvironmentFailure(
        f"no broker of {address.servers} has answered for {seconds:.0f} s{reason}",
        "is the address right, and does the listener speak the security.protocol of "
        "--kafka-options?",
    )
