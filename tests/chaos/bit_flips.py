"""Flips bits in the files of a checkpoint: of every kind of file that there is."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from runtime.pipeline.blob_store import is_unfinished
from runtime.pipeline.checkpoint_files import COPIES

Undo = Callable[[], None]


class BitFlips:
    """`made` counts them by copy and kind. The kind of a file is its name without numbers: both
    copies of a file are of one kind."""

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint = checkpoint
        self._seen: set[str] = set()
        self.made: Counter[str] = Counter()

    @property
    def missed(self) -> set[str]:
        """Kinds of files that were there, and in which no bit was flipped, if there were any
        flips."""
        return self._seen - set(map(_kind, self.made)) if self.made else set()

    def look(self) -> dict[str, list[Path]]:
        """The files that are there, by kind."""
        found: dict[str, list[Path]] = {}
        for path in sorted(self._checkpoint.rglob("*")):
            if path.is_file() and not is_unfinished(path.name) and _size(path):
                found.setdefault(_kind(self._name(path)), []).append(path)
        self._seen.update(found)
        return found

    def flip(self, chance: random.Random, note: Callable[[str], None]) -> Undo:
        """One bit in one file of each kind, so never in both copies of a file. They are mended
        when the job has recovered: the next flips may be in the other copies."""
        mends = [self._flip_one(kind, chance, note) for kind in self.look()]

        def mend() -> None:
            for each in mends:
                each()

        return mend

    def _flip_one(self, kind: str, chance: random.Random, note: Callable[[str], None]) -> Undo:
        """Does nothing if the job has removed all files of the kind."""
        while paths := self.look().get(kind):
            path = chance.choice(self._of_copy_flipped_least(paths))
            try:
                file = os.open(path, os.O_RDWR)
            except FileNotFoundError:
                continue
            place = chance.randrange(os.fstat(file).st_size)
            whole = os.pread(file, 1, place)
            os.pwrite(file, bytes([whole[0] ^ 1 << chance.randrange(8)]), place)
            self.made[self._name(path)] += 1
            note(f"byte {place} of {path.relative_to(self._checkpoint)}")
            return partial(_mend, file, place, whole)
        return lambda: None

    def _of_copy_flipped_least(self, paths: list[Path]) -> list[Path]:
        fewest = min(self.made[self._name(path)] for path in paths)
        return [path for path in paths if self.made[self._name(path)] == fewest]

    def _name(self, path: Path) -> str:
        """Without numbers."""
        return re.sub(r"[0-9a-f]{8,}|\d+", "#", str(path.relative_to(self._checkpoint)))


def _kind(name: str) -> str:
    """The same for both copies."""
    first, _, rest = name.partition("/")
    return rest if first in COPIES else name


def _size(path: Path) -> int:
    """0 if the job has removed it."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _mend(file: int, place: int, whole: bytes) -> None:
    """Also does no harm if the file was removed or replaced."""
    os.pwrite(file, whole, place)
    os.close(file)
