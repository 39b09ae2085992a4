"""Creates the private folder of a cluster, for its token, sockets and logs."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path

from runtime.temporary_folder import OWNER, PREFIX, TemporaryFolder, remove_leftovers

# A socket's path may have 107 characters, and Ray puts about 70 after this folder's.
_LONGEST = 34


class ClusterDir:
    """A new folder that only this user can access, removed at the end.

    `ray` is for Ray, which makes its folder readable for everybody. `logs` has the logs of Spark
    and of this process, and a link to those of Ray; error messages name it.
    """

    def __init__(self) -> None:
        self._folder = TemporaryFolder(parent=_parent())
        self.path = self._folder.path
        self.ray = self.path / "ray"
        self.ray.mkdir(mode=0o700)
        self.logs = self.path / "logs"
        self.logs.mkdir(mode=0o700)
        self._ray_logs = self.logs / "ray"
        self._ray_logs.symlink_to(Path("..", "ray", "session_latest", "logs"))

    def write_token(self) -> Path:
        """Writes a new token that only this user can read."""
        path = self.path / "token"
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        return path

    def remove(self, keep_logs: bool) -> None:
        """Removes everything, or everything but the logs."""
        if not keep_logs:
            self._folder.remove()
            return
        kept = self._ray_logs.resolve()
        self._ray_logs.unlink(missing_ok=True)
        if kept.is_dir():
            shutil.move(kept, self._ray_logs)
        for other in self.path.iterdir():
            if other == self.logs or other.name == OWNER:
                continue
            if other.is_dir() and not other.is_symlink():
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink(missing_ok=True)
        self._folder.keep()


def remove_left_folders() -> None:
    """Removes the temporary folders of runs that were killed."""
    remove_leftovers(tempfile.gettempdir(), _parent())


def _parent() -> str:
    usual = tempfile.gettempdir()
    fits = len(os.path.join(usual, PREFIX)) + 8 <= _LONGEST
    return usual if fits or os.name != "posix" else "/tmp"
