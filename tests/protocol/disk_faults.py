"""Runs of a job on a real folder, whose disk fails at random: full, read-only, over its quota, with
input or output errors, or with a run that dies in the middle of a call.

The checkpoint and the output are written by the product's classes. Only the calls of the system
that they make are replaced.
"""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from protocol.explore import Run, right
from protocol.points import PointedStore
from protocol.programs import run_job
from protocol.random_faults import Crashed
from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore
from spark_ingest.sinks.file_sink import FileSink, RollingPolicy

ROWS = 12
#: The runs of a history that meet faults, at the most.
RUNS = 40
#: Results of more bytes are published, others wait.
WAITING_BYTES = 16

#: How each call fails. All of them may also be the last one of a run.
WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
CALLS = {
    **dict.fromkeys(("mkdir", "replace", "write"), WRITING),
    "fsync": (errno.ENOSPC, errno.EIO),
    "unlink": (errno.EROFS, errno.EIO),
    "read": (errno.EIO,),
    "scandir": (errno.EIO,),
}
#: The modules that call the system for the checkpoint and the output.
MODULES = ("runtime.pipeline.local_folder", "runtime.io.atomic", "pathlib")


class FailingDisk:
    """Takes the place of the module `os`. A run that has died does nothing any more, so what it
    would clean up stays."""

    def __init__(self, chance: random.Random, often: float) -> None:
        self._chance = chance
        self._often = often
        self._dead = False
        self.faults: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        call = getattr(os, name)
        if name not in CALLS:
            return call

        def tried(*given: Any, **named: Any) -> Any:
            self._meet(name)
            # No power fails here: what was written is read again from memory.
            return None if name == "fsync" else call(*given, **named)

        return tried

    def open_file(self, file: Any, mode: str, **options: Any) -> Any:
        """Stands for the built-in `open`."""
        if mode != "wb":
            return builtins.open(file, mode, **options)
        return io.BufferedWriter(FailingFile(file, self))

    def write(self, whole: memoryview, write: Callable[[memoryview], int | None]) -> int | None:
        """A disk that fills up takes the first part of what it is given."""
        if self._dead:  # what waits in a buffer is lost
            return len(whole)
        try:
            self._meet("write")
        except BaseException:
            write(whole[: self._chance.randrange(len(whole) + 1)])
            raise
        return write(whole)

    def _meet(self, call: str) -> None:
        if self._dead:
            raise Crashed
        if self._chance.random() >= self._often:
            return
        number = self._chance.choice((0, *CALLS[call]))
        self.faults[f"{call}: {errno.errorcode.get(number, 'crash')}"] += 1
        if not number:
            self._dead = True
            raise Crashed
        raise OSError(number, os.strerror(number))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        with ExitStack() as stack:
            for module in MODULES:
                stack.enter_context(mock.patch(f"{module}.os", self))
                stack.enter_context(mock.patch(f"{module}.open", self.open_file, create=True))
            yield


class FailingFile(io.FileIO):
    def __init__(self, file: Any, disk: FailingDisk) -> None:
        super().__init__(file, "wb")
        self._disk = disk

    def write(self, whole: Any) -> int | None:
        return self._disk.write(memoryview(whole).cast("B"), super().write)


class History:
    """Runs that follow one another, each on a disk that fails, and then one whose disk does not."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._chance = random.Random(seed)
        self._seed = seed
        self._folder = folder
        self._gone = 0
        self._ends: list[str] = []
        self.faults: Counter[str] = Counter()

    def play(self) -> None:
        for _ in range(RUNS):
            if self._run(often=self._chance.choice([0.01, 0.03, 0.1])):
                break
        # Also after a run to the end: it must change nothing.
        assert self._run(often=0.0), self._explained()
        assert self._rows() == right(ROWS), self._explained()

    def _run(self, often: float) -> bool:
        """Whether it came to the end of the job."""
        disk = FailingDisk(self._chance, often)
        name = f"{self._chance.getrandbits(48):012x}"
        end = "finished"
        with disk.in_use():
            try:
                self._job(Run(name, self._chance.randint(1, 3)))
            except HamletError as error:
                end = error.message
            except Crashed:
                end = "crashed"
        self._ends.append(f"{name} {end} {dict(disk.faults)}")
        self.faults += disk.faults
        rows = self._rows()
        assert rows == sorted(set(rows)), self._explained()
        assert set(rows) <= set(right(ROWS)), self._explained()
        return end == "finished"

    def _job(self, run: Run) -> None:
        checkpoints = PointedStore(self._do, BlobStore(str(self._folder / "state")), run.name)
        rolling = RollingPolicy(bytes=WAITING_BYTES, seconds=3600.0)
        committed = checkpoints.last()
        folders = {} if committed is None else committed.folders
        sink = FileSink(self._folder / "output", "json", ("p", "q"), rolling, folders)
        run_job(self._do, run, ROWS, checkpoints, sink)

    def _do(self, kind: str, name: str = "", value: Any = None) -> Any:
        """What a run reports as read is deleted."""
        if kind == "input":
            return range(max(value[0], self._gone), value[1])
        if kind == "report":
            self._gone = max(self._gone, value)
        return None

    def _rows(self) -> list[tuple[int, int]]:
        parts = sorted((self._folder / "output").glob("*/part-*"))
        rows = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
        return sorted((row["row"], row["sum"]) for row in rows)

    def _explained(self) -> str:
        return "\n".join([f"seed {self._seed}: {self._rows()}", *self._ends])


def play_on_disk(first: int, faults: int) -> Counter[str]:
    """Histories from a seed on, until there were so many faults."""
    total: Counter[str] = Counter()
    while total.total() < faults:
        with tempfile.TemporaryDirectory() as folder:
            history = History(first, Path(folder))
            history.play()
        total += history.faults
        first += 1
    return total
