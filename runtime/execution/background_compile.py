"""Kernels made for a workload, compiled ahead in a process of their own.

To compile one takes seconds, in which no event would be taken. So another process does it
(`compile_worker.py`) and leaves it in the cache on disk; the stream goes on by the kernel for many
workloads until it is there.
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
from runtime.plan.sharing_plan import Plan


@dataclass(frozen=True)
class Wanted:
    """What kernels are made for. `event` is one of the stream, with all its columns."""

    attributes: tuple[str, ...]
    types: Mapping[str, pa.DataType]
    sharing: str
    groups: tuple[tuple[Query, ...], ...]  #: that share
    plan: Plan
    event: pa.RecordBatch


class Ahead:
    """Begins to compile at once, and stops with whoever wanted it. If it fails, all stays as it
    is."""

    def __init__(self, wanted: Wanted) -> None:
        self.groups = wanted.groups
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runtime.execution.compile_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._told = False
        weakref.finalize(self, _end, self._process)
        with suppress(BrokenPipeError), cast("IO[bytes]", self._process.stdin) as pipe:
            pickle.dump(wanted, pipe)

    def has_finished(self) -> bool:
        """Says so once."""
        finished = not self._told and self._process.poll() is not None
        self._told |= finished
        return finished


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
