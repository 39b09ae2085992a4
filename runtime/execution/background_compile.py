"""Compiles kernels that are specialized for a workload, in another process.

Compiling takes seconds during which no event would be processed. So another process
(`compile_worker.py`) compiles and leaves the code in the cache on disk; meanwhile the stream uses
the general kernel.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, cast

import pyarrow as pa

from runtime.language.query import Query
from runtime.plan.sharing_plan import SharingPlan


@dataclass(frozen=True)
class CompileRequest:
    """The workload to compile kernels for. `event` is one event of the stream, with all columns."""

    attributes: tuple[str, ...]
    types: Mapping[str, pa.DataType]
    sharing: str
    groups: tuple[tuple[Query, ...], ...]  #: share groups
    plan: SharingPlan
    event: pa.RecordBatch


class BackgroundCompile:
    """Starts compiling at once and stops when it is garbage-collected. If compiling fails, nothing
    changes."""

    def __init__(self, request: CompileRequest) -> None:
        self.groups = request.groups
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runtime.execution.compile_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._reported = False
        weakref.finalize(self, _end, self._process)
        with suppress(BrokenPipeError), cast("IO[bytes]", self._process.stdin) as pipe:
            pickle.dump(request, pipe)

    def has_finished(self) -> bool:
        """True once, when the process has ended."""
        finished = not self._reported and self._process.poll() is not None
        self._reported |= finished
        return finished


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
