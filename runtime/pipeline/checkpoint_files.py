"""Writes and reads the files of a checkpoint: each sealed with a digest, and in two copies.

A file has a header, which names its epoch and its owner, and a digest of everything after the
digest itself. The copies are in the folders `a` and `b`: either one is enough to go on, and no file
of one depends on a file of the other.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable

import pyarrow as pa

from runtime.errors import HamletError
from runtime.pipeline.blob_store import (
    BlobStore,
    CorruptCheckpoint,
    LinkRefused,
    is_unfinished,
    parsing,
)

FORMAT = 7
COPIES = ("a", "b")
# The digest in hexadecimal, a line break, and the header in JSON, filled up with blanks.
_DIGEST = 64
HEADER = 256


class CheckpointFiles:
    """`owner` is the run that writes. A store that does not outlive its run has one copy. Pickled
    with its store."""

    def __init__(self, store: BlobStore, owner: str = "") -> None:
        self.store = store
        self.owner = owner
        self.copies = COPIES if store.durable else COPIES[:1]

    def write(self, name: str, epoch: int, *parts: bytes | pa.Buffer) -> int:
        """Returns the number of bytes of all copies."""
        header = _header(name, epoch, self.owner)
        whole = (_digest(header, *parts), header, *parts)
        return sum(self.store.write(f"{copy}/{name}", *whole) for copy in self.copies)

    def read(self, name: str) -> pa.Buffer:
        """The content of the first intact copy."""
        return self._first_intact(name, lambda copy: _content(self.store.read(copy), name))

    def read_range(self, name: str, offset: int, length: int, crc: int) -> pa.Buffer:
        """A part of the content with its own checksum, so that nobody has to read the rest."""

        def read(copy: str) -> pa.Buffer:
            data = self.store.read(copy, HEADER + offset, length)
            if data.size != length or zlib.crc32(data) != crc:
                raise CorruptCheckpoint(f"{name} is damaged")
            return data

        return self._first_intact(name, read)

    def repair(self, name: str) -> list[str]:
        """Replaces damaged and missing copies by an intact one. Returns their names."""
        damaged, intact = [], None
        for copy in self.copies:
            try:
                data = self.store.read(f"{copy}/{name}")
                _content(data, name)
                intact = data
            except (FileNotFoundError, HamletError):  # the disk of one copy may be damaged
                damaged.append(f"{copy}/{name}")
        if intact is None:
            raise CorruptCheckpoint(f"{name} is damaged or missing in every copy")
        for each in damaged:
            self.store.write(each, intact)
        return damaged

    def names(self, folder: str) -> list[str]:
        """The names of all files in a folder, in either copy. A copy that cannot be listed is
        damaged: what was written whole is in the other one, too."""
        found: set[str] = set()
        errors: list[HamletError] = []
        for copy in self.copies:
            cut = len(copy) + 1
            try:
                found.update(each[cut:] for each in self.store.names(f"{copy}/{folder}"))
            except LinkRefused:
                raise
            except HamletError as error:
                errors.append(error)
        if len(errors) == len(self.copies):
            raise errors[0]
        return sorted(name for name in found if not is_unfinished(name))

    def refresh(self, folder: str) -> None:
        """Brings the cache of a network file system up to date, from which it lists the folder."""
        for copy in self.copies:
            self.store.write(f"{copy}/{folder}/.{self.owner}.tmp", b"")
            self.store.delete(f"{copy}/{folder}/.{self.owner}.tmp")

    def delete(self, name: str) -> None:
        for copy in self.copies:
            self.store.delete(f"{copy}/{name}")

    def _first_intact(self, name: str, read: Callable[[str], pa.Buffer]) -> pa.Buffer:
        error: HamletError = CorruptCheckpoint(f"{name} is missing")
        for copy in self.copies:
            try:
                return read(f"{copy}/{name}")
            except FileNotFoundError:
                continue
            except HamletError as damaged:  # also a copy that its disk does not give
                error = damaged
        raise error


def _header(name: str, epoch: int, owner: str) -> bytes:
    fields = {"format": FORMAT, "name": name, "epoch": epoch, "owner": owner}
    text = json.dumps(fields).encode()
    padded = text.ljust(HEADER - _DIGEST - 2) + b"\n"
    assert len(padded) == HEADER - _DIGEST - 1, f"{name} is too long for a header"
    return padded


def _digest(*parts: bytes | pa.Buffer) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode() + b"\n"


def _content(data: pa.Buffer, name: str) -> pa.Buffer:
    """What follows the header, if nothing was changed and the file is the one that it names."""
    start = _DIGEST + 1
    if data.size < HEADER or data[:start].to_pybytes() != _digest(data.slice(start)):
        raise CorruptCheckpoint(f"{name} is damaged")
    with parsing(name, "has no header"):
        header = json.loads(data[start:HEADER].to_pybytes())
        written_by, called = header["format"], header["name"]
    if written_by != FORMAT:
        raise CorruptCheckpoint(f"{name} was written by another version of Hamlet")
    if called != name:
        raise CorruptCheckpoint(f"{name} is a copy of {called}")
    return data.slice(HEADER)
