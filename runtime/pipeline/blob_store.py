"""Stores files that appear whole or not at all, on a local or shared disk or in an object store."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pfs

from runtime.errors import HamletError


class BlobStore:
    """A folder at `address`: a path, or a URI such as s3://bucket/path. If `durable`, files survive
    a power failure. Pickled as its address."""

    def __init__(self, address: str, durable: bool = True) -> None:
        # It may be unpickled in another working directory.
        self.address = address if "://" in address else str(Path(address).absolute())
        self._durable = durable
        with _reraised_as(f"cannot use {address}"):
            self.files, self.path = _open_file_system(self.address)
        self._local = isinstance(self.files, pfs.LocalFileSystem)

    def __reduce__(self) -> tuple[type[BlobStore], tuple[str, bool]]:
        return BlobStore, (self.address, self._durable)

    def create(self) -> None:
        """Creates the folder and checks that it can be written to."""
        with _reraised_as(f"cannot write to {self.address}"):
            self.files.create_dir(self.path, recursive=True)
        trial = f".trial-{uuid.uuid4().hex[:8]}.tmp"
        self.write(trial, b"")
        self.delete(trial)

    def write(self, name: str, *parts: bytes | pa.Buffer) -> int:
        """Returns the number of bytes."""
        with _reraised_as(f"cannot write {self.address}/{name}"):
            if self._local:
                return self._write_here(Path(self.path) / name, parts)
            # An object appears when its upload ends.
            with self.files.open_output_stream(self._at(name)) as stream:
                return sum(stream.write(part) for part in parts)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> pa.Buffer:
        with (
            _reraised_as(f"cannot read {self.address}/{name}"),
            self.files.open_input_file(self._at(name)) as file,
        ):
            file.seek(offset)
            return file.read_buffer(file.size() - offset if length is None else length)

    def names(self, below: str = "") -> list[str]:
        """The sorted names of all files below a folder."""
        root = self._at(below) if below else self.path
        with _reraised_as(f"cannot list {self.address}/{below}"):
            wanted = pfs.FileSelector(root, recursive=True, allow_not_found=True)
            found = self.files.get_file_info(wanted)
        cut = len(self.path.rstrip("/")) + 1
        return sorted(info.path[cut:] for info in found if info.is_file)

    def exists(self, name: str) -> bool:
        with _reraised_as(f"cannot access {self.address}/{name}"):
            return bool(self.files.get_file_info(self._at(name)).is_file)

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError), _reraised_as(f"cannot delete {self.address}/{name}"):
            self.files.delete_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}"

    def _write_here(self, path: Path, parts: tuple[bytes | pa.Buffer, ...]) -> int:
        # The name has the process id: another process may write a repeated epoch at the same time.
        waiting = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(waiting, "wb") as file:
                written = sum(file.write(part) for part in parts)
                file.flush()
                if self._durable:
                    os.fsync(file.fileno())
            os.replace(waiting, path)
        except BaseException:
            with suppress(OSError):
                waiting.unlink()
            raise
        return written


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
def _reraised_as(what: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise HamletError(f"{what}: {reason}") from error
