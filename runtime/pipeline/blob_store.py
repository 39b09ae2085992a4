"""Stores files that appear whole or not at all, on a local or shared disk or in an object store."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pfs

from runtime.errors import EnvironmentFailure, HamletError, is_environment
from runtime.pipeline.local_folder import LocalFolder, NotAFolder
from runtime.pipeline.mounts import is_own_disk
from runtime.pipeline.object_store import ObjectStore

# What a name may be made of: folders and a file, of characters that every store accepts.
_NAME = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")


class CorruptCheckpoint(EnvironmentFailure):
    """A file of a checkpoint is missing, was changed, or names a file elsewhere."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        way_on = "put an intact copy of the file back, or see *Damage* in docs/checkpoints.md"
        super().__init__(message, hint or way_on)


class PathConflict(CorruptCheckpoint):
    """A folder in the place of a file, or a file in that of a folder. The hint says what to do."""


class LinkRefused(PathConflict):
    """A symbolic link in a checkpoint, which may lead anywhere."""


@contextmanager
def parsing(name: str, what: str = "is not what it should be") -> Iterator[None]:
    """Whatever goes wrong in it: the file has other content than Hamlet wrote. A digest only tells
    that it is what somebody wrote."""
    try:
        yield
    except (EnvironmentFailure, MemoryError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise CorruptCheckpoint(f"{name} {what}: {reason}") from error


def check_name(name: str) -> str:
    """Rejects names that leave the folder. Names come from manifests, which others may have
    written, so every access checks them here."""
    if not _is_name(name):
        raise CorruptCheckpoint(f"{name!r} is not the name of a file in a checkpoint")
    return name


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and {".", ".."}.isdisjoint(name.split("/"))


class BlobStore:
    """A folder at `address`: a path, or a URI such as s3://bucket/path. If `durable`, files survive
    a power failure. Pickled as its address."""

    def __init__(self, address: str, durable: bool = True) -> None:
        # It may be unpickled in another working directory.
        self.address = address if "://" in address else str(Path(address).absolute())
        self.durable = durable
        with reraised_as(f"cannot use {address}"):
            files, path = _open_file_system(self.address)
        self._folder: LocalFolder | ObjectStore
        if isinstance(files, pfs.LocalFileSystem):
            self._folder = LocalFolder(Path(path), durable)
            own = is_own_disk(Path(path))
        else:
            self._folder, own = ObjectStore(files, path), False
        #: Whether another machine may use it, and a listing may be older than the last write.
        self.shared = durable and not own

    def __reduce__(self) -> tuple[type[BlobStore], tuple[str, bool]]:
        return BlobStore, (self.address, self.durable)

    def create(self) -> None:
        with reraised_as(f"cannot write to {self.address}"):
            self._folder.create()

    def write(self, name: str, *parts: bytes | pa.Buffer, replace: bool = False) -> int:
        """Returns the number of bytes. With `replace`, a file of this name stays, perhaps with
        other content, if the write fails."""
        check_name(name)
        with reraised_as(f"cannot write {self.address}/{name}"):
            return self._folder.write(name, parts, replace=replace)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> pa.Buffer:
        check_name(name)
        with reraised_as(f"cannot read {self.address}/{name}"):
            return self._folder.read(name, offset, length)

    def names(self, below: str = "") -> list[str]:
        """The sorted names of all files below a folder, except those that no run would write."""
        if below:
            check_name(below)
        with reraised_as(f"cannot list {self.address}/{below}"):
            return sorted(filter(_is_name, self._folder.names(below)))

    def exists(self, name: str) -> bool:
        check_name(name)
        with reraised_as(f"cannot access {self.address}/{name}"):
            return self._folder.exists(name)

    def delete(self, name: str) -> None:
        check_name(name)
        with suppress(FileNotFoundError), reraised_as(f"cannot delete {self.address}/{name}"):
            self._folder.delete(name)


def is_unfinished(name: str) -> bool:
    """Whether a file is unfinished, perhaps because its writer died."""
    last = name.rpartition("/")[2]
    return last.startswith(".") and last.endswith(".tmp")


def _open_file_system(address: str) -> tuple[pfs.FileSystem, str]:
    if "://" in address:
        files, path = pfs.FileSystem.from_uri(address)
        return files, path
    return pfs.LocalFileSystem(), address


@contextmanager
def reraised_as(what: str) -> Iterator[None]:
    """Errors of the system and of Arrow as ours; FileNotFoundError stays."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            hint = "a checkpoint has no links in it: put a folder or file in its place"
            raise LinkRefused(f"{what}: {reason}", hint) from error
        if isinstance(error, NotAFolder | IsADirectoryError):
            hint = "remove what is in its place: it is restored from the other copy"
            raise PathConflict(f"{what}: {reason}", hint) from error
        # An object store gives no number: its errors are those of a network.
        remote = isinstance(error, OSError) and (error.errno is None or is_environment(error))
        raise (EnvironmentFailure if remote else HamletError)(f"{what}: {reason}") from error
