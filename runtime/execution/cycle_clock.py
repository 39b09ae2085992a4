"""The monotonic system clock inside a kernel, in nanoseconds."""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_I64, _I32 = ir.IntType(64), ir.IntType(32)


@intrinsic
def _nanoseconds(typing_context: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        spec = cgutils.alloca_once(builder, ir.ArrayType(_I64, 2))  # type: ignore[no-untyped-call]
        words = builder.bitcast(spec, _I64.as_pointer())
        function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, ir.FunctionType(_I32, [_I32, _I64.as_pointer()]), "clock_gettime"
        )
        builder.call(function, [ir.Constant(_I32, time.CLOCK_MONOTONIC), words])
        seconds = builder.load(words)
        rest = builder.load(builder.gep(words, [ir.Constant(_I32, 1)]))
        return builder.add(builder.mul(seconds, ir.Constant(_I64, 10**9)), rest)

    return types.int64(), code


# Numba's own stubs take the first argument for one that is passed.
nanoseconds: Any = _nanoseconds
