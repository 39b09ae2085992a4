"""Hash functions for the hash tables, whose sizes are powers of two."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from runtime.execution.jit import cached_njit, inlined_njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xFF51AFD7ED558CCD)
# Different from _HALF: shifting twice by half a word would undo the first shift.
_HALF = np.uint64(32)
_LESS = np.uint64(29)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_START = np.uint64(0x2545F4914F6CDD1D)


@intrinsic
def _word_at(typing_context: Any, data: Any, place: Any) -> Any:
    """Eight bytes from anywhere in an array of bytes, in one load."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(array.data, [arguments[1]])
        word = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(data, types.int64), code


# Numba's own stubs take the first argument for one that is passed.
word_at: Any = _word_at


@inlined_njit
def mixed(word):  # type: ignore[no-untyped-def]
    """Mixes a word into all bits; the upper ones are the best."""
    word = np.uint64(word)
    return (word ^ (word >> _HALF)) * _GOLDEN


@inlined_njit
def joined(hash_, word):  # type: ignore[no-untyped-def]
    hash_ = (hash_ ^ np.uint64(word)) * _ODD
    return hash_ ^ (hash_ >> _LESS)


@inlined_njit
def hash_row(rows, row):  # type: ignore[no-untyped-def]
    found = _START
    for i in range(rows.shape[1]):
        found = joined(found, rows[row, i])
    return mixed(found)


@inlined_njit
def hash_bytes(data, start, size):  # type: ignore[no-untyped-def]
    found = _START ^ np.uint64(size)
    end = start + size
    while start + 8 < end:
        found = joined(found, word_at(data, start))
        start += 8
    return mixed(joined(found, last_word(data, start, end - start)))


@inlined_njit
def last_word(data, start, size):  # type: ignore[no-untyped-def]
    """The last eight or fewer bytes as a word; does not read past the end of the data."""
    if start + 8 <= len(data):
        # In two steps, since a shift by all 64 bits does nothing.
        half = np.uint64(4 * (8 - size))
        return word_at(data, start) & (_FULL >> half >> half)
    word = np.uint64(0)
    for i in range(size):
        word |= np.uint64(data[start + i]) << np.uint64(8 * i)
    return word


@inlined_njit
def same_bytes(one, start, other, begin, size):  # type: ignore[no-untyped-def]
    end = start + size
    while start + 8 < end:
        if word_at(one, start) != word_at(other, begin):
            return False
        start += 8
        begin += 8
    return last_word(one, start, end - start) == last_word(other, begin, end - start)


@cached_njit
def place_shift(size):  # type: ignore[no-untyped-def]
    """The shift that turns a hash into an index of a table with 2**k entries."""
    shift = np.uint64(64)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    return shift
