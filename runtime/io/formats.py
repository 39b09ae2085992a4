"""Detects the format of a file by its name or its first bytes."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import PurePath

from runtime.errors import InputError

GZIP = b"\x1f\x8b"
ARROW_FILE = b"ARROW1"
BOM = b"\xef\xbb\xbf"

# Enough bytes to detect a format; no magic number is longer.
HEAD = 16


class Format(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"


_SUFFIXES = {
    **dict.fromkeys((".parquet", ".pq"), Format.PARQUET),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), Format.JSON),
    **dict.fromkeys((".arrow", ".ipc", ".feather"), Format.ARROW),
    ".csv": Format.CSV,
}
_COMPRESSED = (Format.CSV, Format.JSON)


def parse_format(name: str) -> Format:
    """The format that the user names."""
    wanted = name.lower()
    found = _SUFFIXES.get(f".{wanted}")
    if found is None:
        raise InputError(f"`{name}` is not an input format", f"one of {', '.join(Format)}")
    return found


def by_name(path: PurePath | str) -> Format | None:
    """The format by the suffix of a file's name, if it has a known one."""
    name = str(path).lower()
    packed = name.endswith(".gz")
    found = _SUFFIXES.get(os.path.splitext(name.removesuffix(".gz"))[1])
    return None if packed and found not in _COMPRESSED else found


def by_content(head: bytes) -> Format:
    """The format by the first bytes; anything else is CSV."""
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if head.startswith((ARROW_FILE, b"\xff\xff\xff\xff")):
        return Format.ARROW
    text = head.removeprefix(BOM).lstrip()
    # A JSON array cannot be read either, but the error should mention JSON.
    return Format.JSON if text.startswith((b"{", b"[{", b"[\n", b"[\r")) else Format.CSV
