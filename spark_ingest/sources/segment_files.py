"""Keeps each segment in two files: a plain one, which Spark reads, and a sealed copy.

The plain file has the SHA-256 of its content in its name. The copy starts with a SHA-256 of all
that follows, and a line of JSON with the number and the owner of the segment. So either file proves
itself, and the other one is made from it again.

The copy is written first, and never replaces another one: it decides whose segment has the number.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from runtime.errors import EnvironmentFailure, HamletError
from runtime.io.atomic import is_left
from runtime.pipeline.blob_store import LinkRefused, is_unfinished, reraised_as
from runtime.pipeline.local_folder import LocalFolder

_PLAIN = re.compile(r"(\d{9})-([0-9a-f]{64})(\..+)")
# How they were named without a checksum.
_BARE = re.compile(r"\d{9}\..+")
# Listings of a folder, ours and Spark's, skip such a name.
_COPY = re.compile(r"_(\d{9})\.sealed")
# As in the files of a checkpoint: the digest in hexadecimal, a line break, the header in JSON.
_DIGEST, _HEADER = 64, 256


class DamagedSegment(EnvironmentFailure):
    """Neither file of a segment is intact."""


class SegmentFiles:
    """`owner` is the run that writes. `warn` is called when a file is restored. No link is
    followed, neither in the place of the folder nor in it."""

    def __init__(self, folder: Path, suffix: str, owner: str, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self._disk = LocalFolder(folder.parent, durable=True)
        self._suffix = suffix
        self._owner = owner
        self._warn = warn
        self.restored = 0  #: plain files, so far
        with reraised_as(f"cannot write to {folder}"):
            self._disk.create(folder.name)
        self._names()

    def numbers(self) -> list[int]:
        """Of all segments of which there is a file."""
        copies = map(_COPY.fullmatch, self._names())
        sealed = {int(found[1]) for found in copies if found is not None}
        return sorted(sealed | self.plain().keys())

    def plain(self) -> dict[int, Path]:
        """The plain files by number; their contents are not checked."""
        found = {}
        for name in self._names():
            known = _PLAIN.fullmatch(name)
            if known is not None and known[3] == self._suffix:
                found[int(known[1])] = self.folder / name
        return found

    def create(self, number: int, content: bytes) -> bool:
        """Returns whether the segment is new: one with this number stays as it is."""
        if number in self.plain():  # its copy may be lost
            return False
        if not self._write_new(self._copy(number), _sealed(number, self._owner, content)):
            return False
        self._write_new(self._plain(number, content), content)
        return True

    def intact(self, number: int) -> Path:
        """The plain file, after it was restored from the copy if it was damaged or missing."""
        path = self.plain().get(number)
        if path is not None and self._is_proven(path):
            return path
        content = _opened(self._read(self._copy(number)), number)
        if content is None:
            raise DamagedSegment(
                f"segment {number} in {self.folder} is damaged or missing, and so is its copy "
                f"{self._copy(number)}",
                "put one of the two files back from a backup, and start the same command again; "
                "without them, start over with another --checkpoint folder",
            )
        what = "missing" if path is None else "damaged"
        self._warn(f"segment {number} in {self.folder} was {what}; it is restored from its copy")
        return self._write_plain(number, content)

    def replace(self, number: int, content: bytes) -> Path:
        """Writes both files of a segment again."""
        self._warn(f"segment {number} in {self.folder} was damaged; it is generated again")
        self._write(self._copy(number), _sealed(number, self._owner, content))
        return self._write_plain(number, content)

    def repair(self) -> None:
        """Restores what is damaged or missing and can be restored. Without one of the files, a
        segment would be lost with the other one."""
        for number in self.numbers():
            with suppress(DamagedSegment):  # perhaps nobody needs it
                content = self._read(self.intact(number))
                if _opened(self._read(self._copy(number)), number) is None:
                    self._warn(f"the copy of segment {number} in {self.folder} is restored")
                    self._write(self._copy(number), _sealed(number, self._owner, content))

    def delete(self, number: int) -> None:
        """The plain file first: without its copy, it would be a segment that lacks one."""
        for path in (self.plain().get(number), self._copy(number)):
            if path is not None:
                self._delete(path)

    def tidy(self) -> None:
        """Removes what an earlier run did not finish."""
        bare = sorted(filter(_BARE.fullmatch, self._names()))
        if bare:
            raise HamletError(
                f"{self.folder / bare[0]} was written by another version of Hamlet",
                "start over with another --checkpoint folder",
            )
        for path in map(self.folder.joinpath, self._names()):
            if is_unfinished(path.name) and is_left(path):
                self._delete(path)

    def _names(self) -> list[str]:
        with reraised_as(f"cannot list {self.folder}"):
            found = [Path(name) for name in self._disk.names(self.folder.name)]
        return [path.name for path in found if len(path.parts) == 2]  # not in a folder in it

    def _copy(self, number: int) -> Path:
        return self.folder / f"_{number:09d}.sealed"

    def _plain(self, number: int, content: bytes) -> Path:
        digest = hashlib.sha256(content).hexdigest()
        return self.folder / f"{number:09d}-{digest}{self._suffix}"

    def _write_plain(self, number: int, content: bytes) -> Path:
        path, before = self._plain(number, content), self.plain().get(number)
        self._write(path, content)
        self.restored += 1
        if before is not None and before != path:
            self._delete(before)
        return path

    def _is_proven(self, path: Path) -> bool:
        """Whether the content of a plain file is the one that its name tells."""
        found = _PLAIN.fullmatch(path.name)
        return found is not None and found[2] == hashlib.sha256(self._read(path)).hexdigest()

    # ---- the disk --------------------------------------------------------------------------

    def _read(self, path: Path) -> bytes:
        """Nothing if the file is missing or the disk cannot read it: both are damage."""
        try:
            with reraised_as(f"cannot read {path}"):
                content: bytes = self._disk.read(self._inside(path), 0, None).to_pybytes()
                return content
        except LinkRefused:
            raise
        except (HamletError, FileNotFoundError):
            return b""

    def _write(self, path: Path, content: bytes) -> None:
        with reraised_as(f"cannot write {path}"):
            self._disk.write(self._inside(path), [content], replace=True)

    def _write_new(self, path: Path, content: bytes) -> bool:
        with reraised_as(f"cannot write {path}"):
            return self._disk.write_new(self._inside(path), [content])

    def _delete(self, path: Path) -> None:
        with suppress(FileNotFoundError), reraised_as(f"cannot delete {path}"):
            self._disk.delete(self._inside(path))

    def _inside(self, path: Path) -> str:
        return f"{self.folder.name}/{path.name}"


def without_checksum(path: str) -> str:
    """The path of a plain file, as messages show it."""
    folder, slash, name = path.rpartition("/")
    found = _PLAIN.fullmatch(name)
    return path if found is None else f"{folder}{slash}{found[1]}{found[3]}"


def _sealed(number: int, owner: str, content: bytes) -> bytes:
    said = json.dumps({"segment": number, "owner": owner}).encode()
    header = said.ljust(_HEADER - _DIGEST - 2) + b"\n"
    assert len(header) == _HEADER - _DIGEST - 1, f"{owner} is too long for a header"
    digest = hashlib.sha256(header + content).hexdigest().encode()
    return digest + b"\n" + header + content


def _opened(sealed: bytes, number: int) -> bytes | None:
    """The content of a copy, if nothing was changed and it is that of this segment."""
    start = _DIGEST + 1
    if sealed[:start] != hashlib.sha256(sealed[start:]).hexdigest().encode() + b"\n":
        return None
    return sealed[_HEADER:] if json.loads(sealed[start:_HEADER])["segment"] == number else None
