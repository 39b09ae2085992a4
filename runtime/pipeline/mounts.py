"""Tells a disk of this machine from one that other machines mount too."""

from __future__ import annotations

import re
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")
# A list of network file systems would never be complete.
_OWN = {
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs"),
    *("tmpfs", "ramfs", "overlay", "aufs", "vfat", "exfat", "ntfs3", "fuseblk", "hfsplus"),
}


def is_own_disk(path: Path) -> bool:
    """Whether only this machine uses the disk, as far as anyone can tell: a network file system
    may list files from a cache."""
    try:
        table = _TABLE.read_text(errors="surrogateescape")
    except OSError:
        return False
    return file_system_of(path, table) in _OWN


def file_system_of(path: Path, table: str) -> str:
    """The type of the file system that holds a path; empty if the table does not say."""
    path = path.resolve()
    found, kind = -1, ""
    for line in table.splitlines():
        mount, _, source = line.partition(" - ")
        point = Path(_unescaped(mount.split(" ")[4]))
        # Of two mounts at one point, the later one hides the earlier one.
        if path.is_relative_to(point) and len(point.parts) >= found:
            found, kind = len(point.parts), source.split(" ")[0]
    return kind


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
