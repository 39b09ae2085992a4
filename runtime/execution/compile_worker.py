"""The process that `background_compile.py` starts: runs one event through specialized kernels.

Nothing waits for it, so it runs at the lowest priority. Processes of one machine take turns: if two
need the same kernels, the second finds them in the cache.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from runtime.cache_dir import cache_of
from runtime.execution.background_compile import CompileRequest
from runtime.execution.context import ExecutionOptions, ExecutorContext
from runtime.execution.executor import Executor
from runtime.execution.operators.graphlet.operator import FOREVER

LOWEST = 19
# The wait for a turn. Compiling the kernels of a workload takes a minute or two on a busy machine.
TURN_SECONDS = 180.0
ASK_SECONDS = 0.1


def compile_kernels(request: CompileRequest) -> None:
    options = ExecutionOptions(sharing=request.sharing, kernels="exact")
    shared = ExecutorContext(options, plan=request.plan, types=request.types)
    executor = Executor(request.attributes, shared)
    executor.add(*(query for group in request.groups for query in group))
    executor.process(request.event, None)
    for _ in executor.save():
        pass
    executor.close(FOREVER)


@contextmanager
def compile_turn(niceness: int) -> Iterator[None]:
    """Lowers the priority of this process for good, and waits for its turn to compile. The process
    whose turn it is may be stopped, so the wait has an end: then both compile the same."""
    os.nice(niceness)
    until = time.monotonic() + TURN_SECONDS
    with (cache_of("kernels") / "compiling.lock").open("w") as turn:
        while not _locked(turn) and time.monotonic() < until:
            time.sleep(ASK_SECONDS)
        yield


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def main() -> None:
    request = pickle.load(sys.stdin.buffer)
    with compile_turn(LOWEST):
        compile_kernels(request)


if __name__ == "__main__":
    main()
