"""The process of a system, seen from outside: requests runs and watches time and memory."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks._rivals.systems import OUT_OF_MEMORY, Rival
from runtime.errors import HamletError

CHECKOUT = Path(__file__).parents[2]
#: Starting is not timed; compiling our kernels for the first time takes longest.
START_S = 600.0


class NotEnded(Exception):
    """Not within its time."""


class OutOfMemory(Exception):
    """Its heap was full."""


class Process:
    def __init__(self, rival: Rival, folder: Path, log: Path, heap_mb: int) -> None:
        self.rival = rival
        self._log = log
        self._read = b""
        with open(log, "wb") as errors:
            self._process = subprocess.Popen(
                rival.command(folder, heap_mb),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=CHECKOUT,
                env=rival.environment(heap_mb),
                start_new_session=True,
            )
        self.started_bytes = 0

    def ready(self) -> None:
        self._answer(START_S)
        self.started_bytes = sum(_memory(pid, "VmRSS") for pid in self._family())

    def load(self, folder: Path) -> None:
        """Another job instead of the one before."""
        self._say(f"job {folder}")
        self._answer(START_S)

    def run(self, limit_s: float) -> dict[str, Any]:
        self._say("run")
        return self._answer(limit_s)

    def peak_bytes(self) -> int:
        """The largest resident set, of it and the processes that it started (Spark's Java). Only
        Linux tells it; 0 elsewhere."""
        return sum(_memory(pid, "VmHWM") for pid in self._family())

    def end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; why, its answer shows
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def _answer(self, limit_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        deadline = time.monotonic() + limit_s
        while True:
            line, ended, rest = self._read.partition(b"\n")
            if ended:
                self._read = rest
                if line.startswith(b"{"):  # else Java itself says something
                    answer: dict[str, Any] = json.loads(line)
                    return answer
                continue
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                raise NotEnded
            piece = os.read(pipe, 1 << 16)
            if not piece:
                self._failed()
            self._read += piece

    def _failed(self) -> None:
        if self._process.wait() == OUT_OF_MEMORY:
            raise OutOfMemory
        said = self._log.read_text(encoding="utf-8", errors="replace").strip()[-2_000:]
        raise HamletError(
            f"{self.rival.name} ended with {self._process.returncode}: {said or 'no word'}"
        )

    def _family(self) -> Iterator[int]:
        yield from _descendants(self._process.pid)


def _descendants(pid: int) -> Iterator[int]:
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from _descendants(int(child))


def _memory(pid: int, what: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(what)), 0)
