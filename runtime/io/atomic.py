"""Writes files that appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from runtime.errors import HamletError, InputError


class AtomicFiles:
    """Writes any number of files under temporary names; `publish` renames them all. If `durable`,
    published files survive a power failure."""

    def __init__(self, durable: bool = True) -> None:
        self._durable = durable
        self._written: dict[Path, Path] = {}

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        # Hidden, so that readers of the folder ignore it.
        waiting = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        with _explained(path):
            self._written[path] = waiting
            with _opened(waiting) as file:
                yield file
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())

    def publish(self) -> None:
        for path, waiting in list(self._written.items()):
            with _explained(path):
                os.replace(waiting, path)
            del self._written[path]

    def discard(self) -> None:
        """Removes the files that were not published."""
        for waiting in self._written.values():
            with suppress(OSError):
                waiting.unlink()
        self._written.clear()


def _opened(path: Path) -> IO[bytes]:
    try:
        return open(path, "wb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "wb")


def sync_to_disk(path: Path) -> None:
    """Syncs a published file or folder to disk."""
    with _explained(path), open(path, "rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HamletError(f"cannot write {path}: {error.strerror or error}") from error


def check_folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, but the results need a folder", "choose another path")
    return path
