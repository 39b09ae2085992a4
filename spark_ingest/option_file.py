"""Reads a file of options, `name=value` on each line, with secrets from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runtime.errors import InputError

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Option:
    """The value may be a secret, so it is not in the `repr`. `place` is its file and line."""

    name: str
    value: str = field(repr=False)
    place: str


def read_option_file(
    path: str | Path, environment: Mapping[str, str] = os.environ
) -> Iterator[Option]:
    """The options of a file, each once. `${NAME}` in a value is a variable of the environment;
    lines that begin with `#` or `!` are comments."""
    seen = set()
    for number, line in enumerate(text_of(path).splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        place = f"{path}:{number}"
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            raise InputError(f"{place}: `name=value` is expected here")
        if name in seen:
            raise InputError(f"{place}: `{name}` is given twice")
        seen.add(name)
        yield Option(name, _filled(value, environment, place), place)


def text_of(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text") from error


def _filled(value: str, environment: Mapping[str, str], place: str) -> str:
    for name in _VARIABLE.findall(value):
        if name not in environment:
            raise InputError(f"{place}: the environment has no variable {name}")
    return _VARIABLE.sub(lambda found: environment[found[1]], value)
