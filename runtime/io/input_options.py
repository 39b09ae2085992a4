"""Splits `--input events.csv?multiline=true` into the path and its options."""

from __future__ import annotations

import os
from typing import NamedTuple
from urllib.parse import parse_qsl

from runtime.errors import InputError

_VALUES = {"true": True, "false": False}


class InputPath(NamedTuple):
    path: str
    multiline: bool = False

    def __str__(self) -> str:
        return f"{self.path}?multiline=true" if self.multiline else self.path


def split_options(text: str) -> InputPath:
    """A file whose name has a question mark is meant if it exists."""
    path, mark, options = text.rpartition("?")
    if not mark or os.path.exists(text):
        return InputPath(text)
    found = InputPath(path)
    for name, value in parse_qsl(options, keep_blank_values=True) or [(options, "")]:
        if name != "multiline" or value not in _VALUES:
            raise InputError(
                f"`{options}` is not an input option, and there is no file {text}",
                "the option is ?multiline=true: quoted values of CSV may have line breaks",
            )
        found = found._replace(multiline=_VALUES[value])
    return found
