"""A folder of a mounted disk, in which no symbolic link is followed.

Whoever can write to the folder could otherwise lead a run to any file of its user. Each folder on
the way to a file is opened on its own, so no link can appear between a check and its use.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

Parts: TypeAlias = Sequence[bytes | pa.Buffer]

# State has the values of events, so only its user can read it.
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Opening a pipe would wait for its writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class NotAFolder(NotADirectoryError):
    """A file in the place of a folder below the root."""


class LocalFolder:
    """`root` itself may be a link. Errors are those of the system; ELOOP means a link."""

    def __init__(self, root: Path, durable: bool) -> None:
        self._root = root
        self._durable = durable

    def create(self, folder: str = "") -> None:
        """Creates it, or a folder in it."""
        make_folder(self._root, _PRIVATE_FOLDER)
        if folder:
            with self._opened(folder.split("/"), create=True):
                pass

    def write(self, name: str, parts: Parts, *, replace: bool = False) -> int:
        """A file that it is to `replace` stays as it is if the write fails."""
        with (
            self._parent(name, create=True) as (folder, last),
            self._written(folder, last, parts) as (waiting, size),
        ):
            os.replace(waiting, last, src_dir_fd=folder, dst_dir_fd=folder)
        return size

    def write_new(self, name: str, parts: Parts) -> bool:
        """Returns whether the file is new: one of this name stays as it is."""
        try:
            with (
                self._parent(name, create=True) as (folder, last),
                self._written(folder, last, parts) as (waiting, _),
            ):
                # Unlike a rename, it does not replace a file.
                os.link(waiting, last, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        return True

    @contextmanager
    def _written(self, folder: int, last: str, parts: Parts) -> Iterator[tuple[str, int]]:
        """A file under a temporary name, and its size. Whoever uses it gives it its name."""
        waiting = unfinished_name(last)
        try:
            number = os.open(waiting, _NEW_FILE, _PRIVATE_FILE, dir_fd=folder)
            with open(number, "wb") as file:
                size = sum(file.write(part) for part in parts)
                file.flush()
                if self._durable:
                    os.fsync(number)
            yield waiting, size
            if self._durable:
                os.fsync(folder)
        finally:
            with suppress(OSError):
                os.unlink(waiting, dir_fd=folder)

    def read(self, name: str, offset: int, length: int | None) -> pa.Buffer:
        with (
            self._parent(name) as (folder, last),
            open(os.open(last, _FILE, dir_fd=folder), "rb", buffering=0) as file,
        ):
            file.seek(offset)
            return pa.py_buffer(_read_all(file.fileno(), length))

    def names(self, below: str) -> Iterator[str]:
        try:
            with self._opened(below.split("/") if below else []) as folder:
                yield from _files_in(folder, f"{below}/" if below else "")
        except FileNotFoundError:
            return

    def exists(self, name: str) -> bool:
        try:
            with self._parent(name) as (folder, last):
                return stat.S_ISREG(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return False

    def delete(self, name: str) -> None:
        with self._parent(name) as (folder, last):
            os.unlink(last, dir_fd=folder)

    @contextmanager
    def _parent(self, name: str, create: bool = False) -> Iterator[tuple[int, str]]:
        """The folder of a file, open, and the last part of its name."""
        *folders, last = name.split("/")
        with self._opened(folders, create) as folder:
            yield folder, last

    @contextmanager
    def _opened(self, folders: Sequence[str], create: bool = False) -> Iterator[int]:
        if create:
            self.create()
        at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in folders:
                if create:
                    self._make(name, at)
                inner = _open_folder(name, at)
                os.close(at)
                at = inner
            yield at
        finally:
            os.close(at)

    def _make(self, name: str, parent: int) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, _PRIVATE_FOLDER, dir_fd=parent)
            if self._durable:
                os.fsync(parent)


def unfinished_name(name: str) -> str:
    """A temporary name for a file, with its process and machine. It is hidden, so that readers of
    the folder ignore it. Processes of two containers may have one number and one host name, and
    share the disk: so it is also random."""
    return f".{name}.{os.getpid()}-{machine_id()}-{uuid.uuid4().hex[:8]}.tmp"


@cache
def machine_id() -> str:
    """Where process ids mean the same: this machine, or this container on it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return blake2b(f"{socket.gethostname()} {space}".encode(), digest_size=4).hexdigest()


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Creates a folder, and those above it that are missing. They survive a power failure."""
    if not folder.is_dir():
        make_folder(folder.parent, mode)
        folder.mkdir(mode=mode, exist_ok=True)
        with suppress(PermissionError):  # not everyone who may create in a folder may open it
            sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Makes sure that new names in the folder survive a power failure."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _open_folder(name: str, parent: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except NotADirectoryError as error:  # Linux says this of a link, too
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise _is_link(name) from None
        raise NotAFolder(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error


def _files_in(folder: int, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise _is_link(prefix + entry.name)
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name
            elif entry.is_dir(follow_symlinks=False):
                inner = _open_folder(entry.name, folder)
                try:
                    yield from _files_in(inner, f"{prefix}{entry.name}/")
                finally:
                    os.close(inner)


def _is_link(name: str) -> OSError:
    return OSError(errno.ELOOP, f"{name} is a symbolic link")


def _read_all(number: int, length: int | None) -> bytes:
    left = os.fstat(number).st_size if length is None else length
    parts = []
    while left > 0 and (part := os.read(number, left)):
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
