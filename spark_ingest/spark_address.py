"""Parses addresses of Spark's own sources: `spark:FORMAT?option=value&option=value`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from runtime.errors import InputError

SCHEME = "spark:"
PATH, SCHEMA = "path", "schema"

_EXPECTED = (
    f"write {SCHEME}FORMAT?option=value&option=value, such as {SCHEME}orc?path=events.orc; write & "
    "in a value as %26"
)
_SECRETS = "secrets belong into the file of --spark-options"
# The name of a source, or that of its class.
_FORMAT = re.compile(r"[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*")
_SECRET_NAME = re.compile(r"passw|secret|token|credential|key", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"//[^/?@]*:[^/?@]*@|(passw(or)?d|pwd|secret|token|key)=", re.IGNORECASE)


@dataclass(frozen=True)
class SparkAddress:
    """A format of Spark, with the options that `spark.read` gets. `path` and `schema` are options
    by which Spark loads; what `schema` says is DDL, such as `time TIMESTAMP, type STRING`."""

    format: str
    options: Mapping[str, str]

    def __str__(self) -> str:
        """The same for every order of options. It has no secrets."""
        given = "&".join(
            f"{quote(name, safe='')}={quote(self.options[name], safe='/:')}"
            for name in sorted(self.options)
        )
        return f"{SCHEME}{self.format}" + (f"?{given}" if given else "")


def is_spark(text: str) -> bool:
    return text.startswith(SCHEME)


def parse_spark_address(text: str) -> SparkAddress:
    name, mark, given = text.removeprefix(SCHEME).partition("?")
    if not is_spark(text) or not _FORMAT.fullmatch(name):
        raise InputError(f"`{text.partition('?')[0]}` names no format of Spark", _EXPECTED)
    options: dict[str, str] = {}
    for option, value in _pairs(given) if mark else ():
        _check_secret(option, value)
        if option.lower() in map(str.lower, options):  # Spark ignores their case
            raise InputError(f"option `{option}` is given twice in --input {SCHEME}{name}")
        options[option.lower() if option.lower() in (PATH, SCHEMA) else option] = value
    return SparkAddress(name, options)


def _pairs(given: str) -> Iterator[tuple[str, str]]:
    """A plus stays a plus: it is common in paths and in DDL it means nothing."""
    for pair in given.split("&"):
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError("an option of --input spark: has no name and value", _EXPECTED)
        yield unquote(name), unquote(value)


def _check_secret(name: str, value: str) -> None:
    """Command lines are visible to all users of a machine, and an address is part of checkpoints
    and logs. So this message repeats no value."""
    if _SECRET_NAME.search(name):
        raise InputError(f"option `{name}` looks like a secret", _SECRETS)
    if _SECRET_VALUE.search(value):
        raise InputError(f"the value of option `{name}` has a password", _SECRETS)
