"""Prefetches memory into the CPU's caches.

Events of many partitions arrive interleaved, so each touches a different part of memory. The parts
that the next events touch are already known, so they are requested in advance.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

AHEAD = 16  # events


@intrinsic
def _prefetch(typing_context: Any, array: Any, row: Any, word: Any) -> Any:
    """Prefetches the cache line of a word of a row."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(table.strides, 0)
        byte = ir.IntType(8).as_pointer()
        place = builder.add(builder.mul(arguments[1], stride), builder.mul(arguments[2], _EIGHT))
        pointer = builder.gep(builder.bitcast(table.data, byte), [place])
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        )
        # For writing, to be kept in all caches, data.
        builder.call(
            function, [pointer, ir.Constant(_I32, 1), ir.Constant(_I32, 3), ir.Constant(_I32, 1)]
        )
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), code


_I32 = ir.IntType(32)
_EIGHT = ir.Constant(ir.IntType(64), 8)

# Numba's own stubs take the first argument for one that is passed.
prefetch: Any = _prefetch
