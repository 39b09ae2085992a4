"""Plans which files, or which part of one large file, an epoch reads.

A position names the files that were read. Within a large file it also has the file's `part`: the
offset `at`, up to which it was read, and the length of its pieces, so that a run with other cores
goes on with the same pieces.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.errors import InputError
from runtime.io.file_probe import FileKind, UnreadableFile
from runtime.io.row_groups import RowGroup
from runtime.pipeline.blob_store import CorruptCheckpoint
from spark_ingest.sources.source import Position, SourceRange

# A file is read in pieces of at least this many bytes, so that all cores are busy.
LEAST_SPLIT = 4 << 20
# Arrow, Java and Ray all fail with more than 2 GB at once.
MOST_SPLIT = 128 << 20
# What a position within a file has beside its name.
_NUMBERS = ("size", "changed", "piece", "at")


@dataclass(frozen=True)
class InputFile:
    path: str
    size: int
    changed: int
    arrived: float = field(default=0.0, compare=False)
    #: The path of its content, if it is compressed and was unpacked. The size is that of the copy.
    copy: str | None = field(default=None, compare=False)

    @property
    def stored(self) -> str:
        """The absolute path of what is read."""
        return os.path.abspath(self.copy or self.path)

    @property
    def for_spark(self) -> str:
        """The path for Spark, which reads names as patterns and relative paths as its own."""
        return re.sub(r"([\\\[\]{}*?])", r"\\\1", self.stored)

    @classmethod
    def of(cls, path: Path) -> InputFile:
        known = os.stat(path)
        # The time of the write or of the rename that made it appear.
        return cls(str(path), known.st_size, known.st_mtime_ns, known.st_ctime)


@dataclass(frozen=True)
class FilePart:
    """The bytes from `at` to `until` of a file that is read in pieces of equal length. A piece has
    the lines that begin in it, or the row groups whose middle is in it."""

    file: InputFile
    at: int
    until: int
    piece: int

    @property
    def bytes(self) -> int:
        return self.until - self.at

    @property
    def is_last(self) -> bool:
        return self.until >= self.file.size

    @property
    def pieces(self) -> range:
        """The numbers of its pieces among those of the file."""
        return range(self.at // self.piece, -(-self.until // self.piece))

    def rest(self) -> FilePart:
        """Its bytes and all after them."""
        return FilePart(self.file, self.at, self.file.size, self.piece)


#: What an epoch reads: whole files, or a part of one.
Work = list[InputFile] | FilePart


def files_of(work: Work) -> list[InputFile]:
    return [work.file] if isinstance(work, FilePart) else work


def piece_size(size: int, cores: int) -> int:
    """The length of pieces, of which each core has two."""
    return min(MOST_SPLIT, max(LEAST_SPLIT, size // (2 * cores)))


def next_part(
    file: InputFile, at: int, piece: int, limit: int, groups: Sequence[RowGroup] | None
) -> FilePart:
    """The part from `at` on, of about `limit` bytes. It has at least one of the row `groups`, if
    the file has any, and the last of them is in the last part."""
    until = at + max(1, limit // piece) * piece
    if groups is not None:
        ahead = [group.middle for group in groups if group.middle >= at]
        if ahead:
            until = max(until, at + ((ahead[0] - at) // piece + 1) * piece)
        if not ahead or ahead[-1] < until:
            until = file.size
    return FilePart(file, at, min(until, file.size), piece)


def first_of_a_kind(
    waiting: Iterable[InputFile],
    limit: int,
    kind_of: Callable[[InputFile], FileKind | UnreadableFile],
    measured: Callable[[InputFile], InputFile] = lambda file: file,
) -> Iterator[InputFile]:
    """As many files of one kind as fit, at least one, `measured` by what Spark reads of them."""
    size, first = 0, None
    for file in waiting:
        kind = kind_of(file)
        if first is not None and kind != first:
            return
        file = measured(file)
        size += file.size
        if first is not None and size > limit:
            return
        first = kind
        yield file


# ---- positions -----------------------------------------------------------------------------


def position_after(files: Sequence[str], name: str, part: FilePart) -> Position:
    """The position after a part of the file of this name, when `files` were read before it."""
    if part.is_last:
        return {"files": [*files, name]}
    of = {"file": name, "size": part.file.size, "changed": part.file.changed}
    return {"files": list(files), "part": {**of, "piece": part.piece, "at": part.until}}


def end_of_file(wanted: SourceRange) -> Position:
    """The position after the file of which a range reads a part."""
    begun = wanted.end.get("part")
    if begun is None:
        return wanted.end
    return {"files": [*wanted.end["files"], begun["file"]]}


def rest_of_part(position: Position) -> tuple[str | None, int]:
    """The file of which a part was read, and how many of its bytes were not."""
    part = position.get("part")
    return (None, 0) if part is None else (part["file"], part["size"] - part["at"])


def part_between(start: Position, end: Position) -> tuple[dict[str, Any], int, int | None] | None:
    """If one of two positions is within a file: what it has of its part, and the offsets of both,
    with None for the end of the file."""
    begun, left = (_checked_part(position.get("part")) for position in (start, end))
    part = begun if left is None else left
    if part is None:
        return None
    return part, 0 if begun is None else begun["at"], None if left is None else left["at"]


def _checked_part(part: object) -> dict[str, Any] | None:
    """A position can come from the topic of a sink, where others may write."""
    if part is None:
        return None
    numbers = [part.get(key) for key in _NUMBERS] if isinstance(part, dict) else [None]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise CorruptCheckpoint("the position within a file is not one of Hamlet")
    assert isinstance(part, dict)
    if not isinstance(part.get("file"), str) or not part["piece"]:
        raise CorruptCheckpoint("the position within a file names no file, or no pieces")
    return part


def check_unchanged(part: dict[str, Any], file: InputFile) -> None:
    """A file of which a part was read must be as it was: its rest belongs to that part."""
    if (file.size, file.changed) != (part["size"], part["changed"]):
        raise InputError(
            f"{file.path} has changed since a part of it was read",
            "put the old file back, with its time of change, or start over without the checkpoint",
        )
