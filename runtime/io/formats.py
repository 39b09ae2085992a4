"""Which format a file has: by its name, or by its first bytes."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import PurePath

from runtime.errors import InputError

GZIP = b"\x1f\x8b"
ARROW_FILE = b"ARROW1"
BOM = b"\xef\xbb\xbf"

# What the first bytes are looked at for; no magic number is longer.
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


def named(name: str) -> Format:
    """The format a user asks for."""
    wanted = name.lower()
    found = _SUFFIXES.get(f".{wanted}")
    if found is None:
        raise InputError(f"`{name}` is no input format", f"one of {', '.join(Format)}")
    return found


def by_name(path: PurePath | str) -> Format | None:
    """The format that a file's name tells, if it tells one."""
    name = str(path).lower()
    packed = name.endswith(".gz")
    found = _SUFFIXES.get(os.path.splitext(name.removesuffix(".gz"))[1])
    return None if packed and found not in _COMPRESSED else found


def by_content(head: bytes) -> Format:
    """The format that the first bytes tell; anything may be CSV."""
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if head.startswith((ARROW_FILE, b"\xff\xff\xff\xff")):
        return Format.ARROW
    text = head.removeprefix(BOM).lstrip()
    # A JSON array cannot be read either, but then the message is of JSON.
    return Format.JSON if text.startswith((b"{", b"[{", b"[\n", b"[\r")) else Format.CSV
