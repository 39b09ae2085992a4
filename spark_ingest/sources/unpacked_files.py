"""Unpacks compressed files that are larger than an epoch.

Spark cannot split a compressed file: it would read it as one partition of any size, which no
executor can hand over. So a copy of the content is read in parts, as any other large file.
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from runtime.errors import InputError, os_failure
from runtime.io.bytestream import is_packed, unpacked_chunks
from runtime.io.read import reason_of
from runtime.temporary_folder import TemporaryFolder, remove_leftovers
from spark_ingest.sources.file_ranges import InputFile

# The sizes of this many files are cached.
KNOWN_SIZES = 1_000


class UnpackedFiles:
    """The copies are in a temporary folder of this run in `folder`, where Spark's executors can
    read them. Without it, all files stay packed. A copy stays until its file was read."""

    def __init__(self, folder: Path | None) -> None:
        self._parent = folder
        self._folder: TemporaryFolder | None = None
        self._numbers = itertools.count()
        self._sizes: dict[InputFile, int] = {}
        self._copies: dict[InputFile, InputFile] = {}
        if folder is not None:
            remove_leftovers(str(folder))

    def measured(self, file: InputFile, most: int) -> InputFile:
        """The file with the size of its content, and with a copy of that if it is over `most`.
        Raises an InputError if the file is damaged."""
        if not self._can_unpack(file):
            return file
        if file in self._copies:
            return self._copies[file]
        size = self._sizes.get(file)
        if size is None:
            size = _size_up_to(most, file)
        if size is None or size > most:
            return self.unpacked(file)
        if len(self._sizes) > KNOWN_SIZES:
            self._sizes.clear()
        self._sizes[file] = size
        return replace(file, size=size)

    def unpacked(self, file: InputFile) -> InputFile:
        """A compressed file with a copy of its content, and with the size of that."""
        if not self._can_unpack(file):
            return file
        if file not in self._copies:
            self._copies[file] = self._copied(file)
        return self._copies[file]

    def drop(self, read: Iterable[str], within: bool = False) -> None:
        """Removes the copies of files that were `read`, of which users may have deleted some. With
        `within`, another file was read in part, and may be one that was deleted."""
        if not self._copies:
            return
        paths = set(read)
        for file in list(self._copies):
            if file.path in paths or not (within or os.path.exists(file.path)):
                Path(self._copies.pop(file).stored).unlink(missing_ok=True)

    def close(self) -> None:
        self._copies.clear()
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def _can_unpack(self, file: InputFile) -> bool:
        return self._parent is not None and is_packed(Path(file.path))

    def _copied(self, file: InputFile) -> InputFile:
        """Damage anywhere in the file is found before any of its rows is used."""
        assert self._parent is not None
        with _explained(self._parent):
            if self._folder is None:
                self._folder = TemporaryFolder("unpacked-", str(self._parent))
        copy, size = self._folder.path / str(next(self._numbers)), 0
        try:
            with _explained(copy), open(copy, "wb") as written:
                for chunk in _content(file):
                    size += written.write(chunk)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise
        return replace(file, size=size, copy=str(copy))


def _size_up_to(most: int, file: InputFile) -> int | None:
    """The size of the content, or None if it is over `most`. It is counted: the end of the file
    has only that of the last member, modulo 4 GB."""
    size = 0
    for chunk in _content(file):
        size += len(chunk)
        if size > most:
            return None
    return size


def _content(file: InputFile) -> Iterator[bytes]:
    try:
        yield from unpacked_chunks(Path(file.path))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(reason_of(error)) from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = "compressed files that are larger than an epoch are unpacked there: make room"
        raise os_failure(f"cannot write {path}", error, hint) from error
