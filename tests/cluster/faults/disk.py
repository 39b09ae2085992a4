"""A folder on a disk of its own, which can become full or read-only."""

import subprocess
from pathlib import Path


class NoRights(Exception):
    """To mount a disk takes the rights of root, here or in a namespace of its own."""


class Disk:
    def __init__(self, path: Path, size: str) -> None:
        self.path = path
        path.mkdir()
        made = self._mount("-t", "tmpfs", "-o", f"size={size}", "none")
        if made.returncode:
            raise NoRights(f"mount needs rights: {made.stderr.strip()}")

    def change(self, option: str) -> None:
        made = self._mount("-o", f"remount,{option}")
        assert made.returncode == 0, made.stderr

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", self.path], check=True)

    def _mount(self, *options: str) -> "subprocess.CompletedProcess[str]":
        command = ["mount", *options, str(self.path)]
        return subprocess.run(command, check=False, capture_output=True, text=True)
