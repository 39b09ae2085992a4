"""The private folder of a cluster: its token, its sockets, its logs."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path

# A socket's path may have 107 characters, and Ray puts about 70 after this folder's.
_LONGEST = 34


class Folder:
    """A new folder that only this user may enter, removed in the end.

    `logs` is what a failure points to: the logs of Spark and of this process, and under `ray` a
    link to those that Ray keeps where it wants them.
    """

    def __init__(self) -> None:
        parent = tempfile.gettempdir()
        self.path = Path(tempfile.mkdtemp(prefix="hamlet-", dir=_short(parent)))
        self.logs = self.path / "logs"
        self.logs.mkdir()
        self._ray_logs = self.logs / "ray"
        self._ray_logs.symlink_to(Path("..") / "session_latest" / "logs")

    def write_token(self) -> Path:
        """A fresh token, for the eyes of this user alone."""
        path = self.path / "token"
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        return path

    def remove(self, keep_logs: bool) -> None:
        """Removes all, or all but the logs."""
        if not keep_logs:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        kept = self._ray_logs.resolve()
        self._ray_logs.unlink(missing_ok=True)
        if kept.is_dir():
            shutil.move(kept, self._ray_logs)
        for other in self.path.iterdir():
            if other == self.logs:
                continue
            if other.is_dir() and not other.is_symlink():
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink(missing_ok=True)


def _short(parent: str) -> str:
    return (
        parent
        if len(parent) + len("/hamlet-12345678") <= _LONGEST or os.name != "posix"
        else "/tmp"
    )
