"""The process that `background_compile.py` starts: runs one event through specialized kernels.

Nothing waits for it, so it runs at the lowest priority. Processes of one machine take turns: if two
need the same kernels, the second finds them in the cache.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import sys

from runtime.cache_dir import cache_of
from runtime.execution.background_compile import CompileRequest
from runtime.execution.context import ExecutionOptions, ExecutorContext
from runtime.execution.executor import Executor
from runtime.execution.operators.graphlet.operator import FOREVER


def compile_kernels(request: CompileRequest) -> None:
    options = ExecutionOptions(sharing=request.sharing, kernels="exact")
    shared = ExecutorContext(options, plan=request.plan, types=request.types)
    executor = Executor(request.attributes, shared)
    executor.add(*(query for group in request.groups for query in group))
    executor.process(request.event, None)
    for _ in executor.save():
        pass
    executor.close(FOREVER)


def main() -> None:
    os.nice(19)
    request = pickle.load(sys.stdin.buffer)
    with (cache_of("kernels") / "compiling.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        compile_kernels(request)


if __name__ == "__main__":
    main()
