"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from runtime.errors import HamletError, InputError


class AtomicFiles:
    """Writes any number of files under temporary names; `publish` gives all their own. `lasting`:
    what is published outlives a loss of power, too."""

    def __init__(self, lasting: bool = True) -> None:
        self._lasting = lasting
        self._written: dict[Path, Path] = {}

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        # Hidden, so that a reader of the folder does not take it for data.
        waiting = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        with _explained(path):
            self._written[path] = waiting
            with _opened(waiting) as file:
                yield file
                if self._lasting:
                    file.flush()
                    os.fsync(file.fileno())

    def publish(self) -> None:
        for path, waiting in list(self._written.items()):
            with _explained(path):
                os.replace(waiting, path)
            del self._written[path]

    def discard(self) -> None:
        """Removes what is not published."""
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


def make_last(path: Path) -> None:
    """Returns when the disk has what was published."""
    with _explained(path), open(path, "rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HamletError(f"cannot write {path}: {error.strerror or error}") from error


def folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, but the results need a folder", "name another one")
    return path
