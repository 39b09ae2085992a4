"""Temporary folders of a run, and the removal of those that killed runs left behind.

The owner of a folder holds a lock on a file in it. The system releases the lock when the process
ends, however it ends. Process ids would not do: they are used again, and those of another container
that shares the folder mean nothing here.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PREFIX = "hamlet-"
OWNER = ".owner"
# Logs that were kept after an error stay this long.
KEPT_SECONDS = 24 * 3600.0
_KEPT = b"kept"
_NEW_OWNER = f"{OWNER}.new"


class TemporaryFolder:
    """A new folder that only this user can enter. `remove` it, or use it in a `with`."""

    def __init__(self, kind: str = "", parent: str | None = None) -> None:
        made = None
        while made is None:
            made = _make(PREFIX + kind, parent)
        self.path, self._lock = made

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._release()

    def keep(self) -> None:
        """What is left in it stays for a while after this process has ended."""
        if self._lock >= 0:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, _KEPT, 0)
        self._release()

    def _release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def _make(prefix: str, parent: str | None) -> tuple[Path, int] | None:
    """A folder and the lock on its owner. None if another run took it for a leftover: this process
    was stopped for a day before it took the lock."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    lock = -1
    try:
        # Locked before it has its name, so that nobody finds it without an owner.
        lock = os.open(path / _NEW_OWNER, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, f"{os.getpid()}\n".encode())
        (path / _NEW_OWNER).rename(path / OWNER)
    except FileNotFoundError:
        if lock >= 0:
            os.close(lock)
        return None
    return path, lock


def remove_leftovers(*parents: str, now: float | None = None) -> list[Path]:
    """Removes this user's temporary folders whose owner has ended, and returns them. Logs that were
    kept on purpose go only after a day."""
    then = (time.time() if now is None else now) - KEPT_SECONDS
    removed = []
    for parent in dict.fromkeys(parents or (tempfile.gettempdir(),)):
        for path in sorted(Path(parent).glob(f"{PREFIX}*")):
            if _is_own_folder(path) and (_is_left(path / OWNER, then) or _is_unowned(path, then)):
                shutil.rmtree(path, ignore_errors=True)
                removed.append(path)
    return removed


def _is_own_folder(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _is_unowned(path: Path, then: float) -> bool:
    """Whether its process was killed before the folder had an owner. A living one gives it its
    owner at once."""
    with suppress(OSError):
        alone = os.listdir(path) == [_NEW_OWNER]
        old = (path / _NEW_OWNER).lstat().st_mtime < then
        return alone and old and _is_left(path / _NEW_OWNER, then)
    return False


def _is_left(owner: Path, then: float) -> bool:
    """A folder without such a file is somebody else's, whatever its name."""
    with suppress(OSError):  # also if the lock is held
        file = os.open(owner, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.read(file, len(_KEPT)) != _KEPT or os.fstat(file).st_mtime < then
        finally:
            os.close(file)
    return False
