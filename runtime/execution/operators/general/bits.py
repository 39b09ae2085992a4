"""Bit operations for kernels: lowest set bit, and conversion between doubles and their bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic


def _instruction(result: Any, operand: Any, emit: Callable[[Any, Any], Any]) -> Any:
    """A function of one word that compiles to one instruction."""

    def typed(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, arguments[0])

        return result(operand), generate

    return intrinsic(typed)


def _count_zeros(builder: Any, word: Any) -> Any:
    return builder.cttz(word, ir.Constant(ir.IntType(1), 1))


def _to_double(builder: Any, word: Any) -> Any:
    return builder.bitcast(word, ir.DoubleType())


def _to_word(builder: Any, double: Any) -> Any:
    return builder.bitcast(double, ir.IntType(64))


# The number of the lowest bit that is set, in a word that is not zero.
lowest = _instruction(types.int64, types.int64, _count_zeros)
# The double that has these bits, and the bits of a double.
as_double = _instruction(types.float64, types.int64, _to_double)
as_word = _instruction(types.int64, types.float64, _to_word)
