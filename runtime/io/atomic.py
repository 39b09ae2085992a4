"""Writes files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from runtime.errors import InputError, os_failure
from runtime.pipeline.local_folder import machine_id, make_folder, sync_folder, unfinished_name

# A file of a process that cannot be asked, on another machine, is left behind after this long.
_STALE_SECONDS = 24 * 3600.0
_UNFINISHED = re.compile(r"\..+\.(\d+)-([0-9a-f]{8})(?:-[0-9a-f]{8})?\.tmp")


class AtomicFiles:
    """Writes any number of files under temporary names; `publish` renames them all. If `durable`,
    published files survive a power failure."""

    def __init__(self, durable: bool = True) -> None:
        self._durable = durable
        self._written: dict[Path, Path] = {}

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        waiting = unfinished(path)
        with _explained(path):
            self._written[path] = waiting
            with self._opened(waiting) as file:
                yield file
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())

    def _opened(self, path: Path) -> IO[bytes]:
        try:
            return open(path, "wb")
        except FileNotFoundError:
            make_folder(path.parent)
            return open(path, "wb")

    def publish(self) -> None:
        renamed = set()
        for path, waiting in list(self._written.items()):
            with _explained(path):
                os.replace(waiting, path)
            del self._written[path]
            renamed.add(path.parent)
        if self._durable:
            for folder in renamed:
                with _explained(folder):
                    sync_folder(folder)

    def discard(self) -> None:
        """Removes the files that were not published."""
        for waiting in self._written.values():
            with suppress(OSError):
                waiting.unlink()
        self._written.clear()


def open_private(path: str, flags: int) -> int:
    """An `opener` of files that only this user can read."""
    return os.open(path, flags, 0o600)


def unfinished(path: Path) -> Path:
    """The temporary name of a file."""
    return path.with_name(unfinished_name(path.name))


def remove_unfinished(folder: Path) -> None:
    """Removes files that killed processes left in a folder, or in the folders in it. What cannot be
    listed or removed stays."""
    with suppress(OSError):
        for path in (*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp")):
            with suppress(OSError):
                if is_left(path):
                    path.unlink()


def is_left(path: Path) -> bool:
    """Whether the process that wrote an unfinished file is gone."""
    found, known = _UNFINISHED.fullmatch(path.name), path.lstat()
    if found is None or not stat.S_ISREG(known.st_mode) or known.st_uid != os.geteuid():
        return False
    if found[2] != machine_id():
        return known.st_mtime < time.time() - _STALE_SECONDS
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise os_failure(f"cannot write {path}", error) from error


def check_folder(path: Path) -> Path:
    """Refuses what is no folder, and a folder in which this user cannot write. Writes nothing."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, but the results need a folder", "choose another path")
    if path.exists() and not os.access(path, os.W_OK | os.X_OK):
        read_only = os.statvfs(path).f_flag & os.ST_RDONLY
        number = errno.EROFS if read_only else errno.EACCES
        raise os_failure(f"cannot write {path}", OSError(number, os.strerror(number)))
    return path


@contextmanager
def output_folder(path: Path) -> Iterator[None]:
    """Creates the folder of the results for this user only, unless it exists. A run that writes
    nothing leaves no folder behind."""
    check_folder(path)
    missing = [each for each in (path, *path.parents) if not each.exists()]
    with _explained(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):  # it is not empty, or already gone
            for made in missing:
                made.rmdir()
