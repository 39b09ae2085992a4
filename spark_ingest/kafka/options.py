"""Reads the connection options of a Kafka cluster from a file, for librdkafka and for Java.

The file has librdkafka's names. Its secrets never appear in flags, messages or logs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from runtime.errors import InputError, did_you_mean
from spark_ingest.option_file import read_option_file, text_of

PROTOCOL, MECHANISM = "security.protocol", "sasl.mechanism"
USERNAME, PASSWORD = "sasl.username", "sasl.password"
CA, CERTIFICATE = "ssl.ca.location", "ssl.certificate.location"
KEY, KEY_PASSWORD = "ssl.key.location", "ssl.key.password"
KEYS = (PROTOCOL, MECHANISM, USERNAME, PASSWORD, CA, CERTIFICATE, KEY, KEY_PASSWORD)

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_LOGIN = "org.apache.kafka.common.security"
LOGINS = {
    "PLAIN": f"{_LOGIN}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_LOGIN}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_LOGIN}.scram.ScramLoginModule",
}


@dataclass(frozen=True)
class KafkaOptions:
    """Checked options. They contain secrets, so their `repr` is empty."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    def librdkafka(self) -> dict[str, str]:
        return dict(self.values)

    def java(self) -> dict[str, str]:
        """Certificates and keys by content: their files need not be on every machine."""
        given = self.values
        options = {name: given[name] for name in (PROTOCOL, MECHANISM) if name in given}
        if MECHANISM in given:
            options["sasl.jaas.config"] = (
                f"{LOGINS[given[MECHANISM]]} required "
                f"username={_quoted(given[USERNAME])} password={_quoted(given[PASSWORD])};"
            )
        if CA in given:
            options |= {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.certificates": _pem(given, CA),
            }
        if KEY in given:
            options |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.certificate.chain": _pem(given, CERTIFICATE),
                "ssl.keystore.key": _private_key(given),
            }
        return options


def read_options(path: str | Path, environment: Mapping[str, str] = os.environ) -> KafkaOptions:
    values: dict[str, str] = {}
    for option in read_option_file(path, environment):
        if option.name not in KEYS:
            hint = did_you_mean(option.name, KEYS)
            raise InputError(f"{option.place}: `{option.name}` is not an allowed option", hint)
        values[option.name] = option.value
    _check(values, path)
    return KafkaOptions(values)


def _check(values: dict[str, str], path: str | Path) -> None:
    protocol = values.setdefault(PROTOCOL, "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise InputError(f"{path}: {PROTOCOL} is one of {', '.join(PROTOCOLS)}")
    values[PROTOCOL] = protocol
    for name in values:
        family = name.partition(".")[0].upper()
        if family in ("SASL", "SSL") and family not in protocol.split("_"):
            raise InputError(f"{path}: `{name}` has no effect with {PROTOCOL}={protocol}")
    if protocol.startswith("SASL"):
        _check_login(values, path)
    if (KEY in values) != (CERTIFICATE in values):
        raise InputError(f"{path}: {KEY} and {CERTIFICATE} must be set together")
    for name in (CA, CERTIFICATE):
        if name in values:
            _pem(values, name)
    if KEY in values:
        _private_key(values)


def _check_login(values: dict[str, str], path: str | Path) -> None:
    for name in (MECHANISM, USERNAME, PASSWORD):
        if name not in values:
            raise InputError(f"{path}: {values[PROTOCOL]} needs {name}")
    values[MECHANISM] = values[MECHANISM].upper()
    if values[MECHANISM] not in LOGINS:
        raise InputError(f"{path}: {MECHANISM} is one of {', '.join(LOGINS)}")


def _pem(values: Mapping[str, str], name: str) -> str:
    text = text_of(values[name])
    if "-----BEGIN " not in text:
        raise InputError(f"{name}: {values[name]} is not a PEM file")
    return text


def _private_key(values: Mapping[str, str]) -> str:
    """The key without its password and as PKCS#8: Java 17 reads no other format and no modern
    encryption."""
    password = values.get(KEY_PASSWORD)
    try:
        key = load_pem_private_key(
            _pem(values, KEY).encode(), None if password is None else password.encode()
        )
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        hint = f"{KEY_PASSWORD} must be that of the key, and be there only if the key has one"
        raise InputError(f"{KEY}: the key in {values[KEY]} cannot be read", hint) from error
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
