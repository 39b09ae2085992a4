"""Opens a file or standard input as bytes, decompresses gzip and peeks at the first bytes."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from runtime.errors import InputError
from runtime.io.formats import GZIP, HEAD


def open_bytes(path: Path) -> tuple[BinaryIO, bytes]:
    """The decompressed content of a file, and its first bytes. The name must say whether it is
    compressed: Spark goes by that."""
    if is_packed(path) != _is_gzipped(path):
        is_gzip = "is not gzip, as its name says" if is_packed(path) else "is gzip"
        raise InputError(f"{path} {is_gzip}", "give files that are gzip names that end in .gz")
    return decompressed(open(path, "rb"))


def is_packed(path: Path) -> bool:
    """Whether a file is compressed, by its name."""
    return path.suffix.lower() == ".gz"


def check_packed(path: Path) -> None:
    """Reads a compressed file to its end, and so finds damage before any row is used."""
    for _ in unpacked_chunks(path):
        pass


def unpacked_chunks(path: Path) -> Iterator[bytes]:
    """The content of a compressed file, piece by piece."""
    with gzip.open(path, "rb") as stream:
        while chunk := stream.read(1 << 20):
            yield chunk


def _is_gzipped(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(GZIP)) == GZIP


def decompressed(stream: BinaryIO) -> tuple[BinaryIO, bytes]:
    """The stream, decompressed if it is gzip, and its first bytes, which remain to be read."""
    stream, head = _peeked(stream)
    if head.startswith(GZIP):
        stream, head = _peeked(cast(BinaryIO, gzip.GzipFile(fileobj=stream)))
    return stream, head


def _peeked(stream: BinaryIO) -> tuple[BinaryIO, bytes]:
    # `peek` of a buffered reader may return a single byte of a slow pipe, so read and put back.
    head = stream.read(HEAD)
    return io.BufferedReader(_PrefixedStream(head, stream)), head


class _PrefixedStream(io.RawIOBase):
    """Bytes already read, then the rest of the stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._rest.close()
        super().close()


def copy_to_disk(stream: BinaryIO) -> IO[bytes]:
    """A seekable copy on disk, for formats that are read from their end."""
    copy = tempfile.TemporaryFile(prefix="hamlet-")  # noqa: SIM115
    shutil.copyfileobj(stream, copy, 1 << 20)
    copy.seek(0)
    return copy
