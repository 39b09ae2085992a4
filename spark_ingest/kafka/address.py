"""Parses addresses of Kafka topics: `kafka://HOST:PORT[,HOST:PORT...]/TOPIC`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from runtime.errors import InputError

SCHEME = "kafka://"
PORT = 9092

_EXPECTED = f"write {SCHEME}HOST:PORT/TOPIC, with commas between several HOST:PORT"
_BROKER = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>\d{1,5}))?")
# Kafka's own rule.
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class KafkaAddress:
    brokers: tuple[str, ...]
    topic: str

    @property
    def servers(self) -> str:
        return ",".join(self.brokers)

    def __str__(self) -> str:
        return f"{SCHEME}{self.servers}/{self.topic}"


def is_kafka(text: str) -> bool:
    return text.startswith(SCHEME)


def parse_address(text: str) -> KafkaAddress:
    brokers, slash, topic = text.removeprefix(SCHEME).partition("/")
    if not is_kafka(text) or not slash:
        raise InputError(f"{text} is not a Kafka address", _EXPECTED)
    if "@" in brokers or "?" in topic:
        raise InputError(
            f"{_without_secret(text)} has more than brokers and a topic",
            "put user and password in the --kafka-options file",
        )
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise InputError(f"`{topic}` cannot be the name of a Kafka topic", _EXPECTED)
    return KafkaAddress(tuple(_broker(each, text) for each in brokers.split(",")), topic)


def _broker(text: str, whole: str) -> str:
    found = _BROKER.fullmatch(text)
    if found is None:
        raise InputError(f"`{text}` in {whole} is not HOST:PORT", _EXPECTED)
    port = int(found["port"] or PORT)
    if not 0 < port < 65_536:
        raise InputError(f"{port} in {whole} is not a port")
    return f"{found['host']}:{port}"


def _without_secret(text: str) -> str:
    return re.sub(r"//[^/]*@", "//...@", text).partition("?")[0]
