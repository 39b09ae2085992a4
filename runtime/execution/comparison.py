"""Compares columns exactly for every pair of types.

An integer beyond 2**53 is never rounded to be compared with a double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from runtime.execution.column import Doubles, Mask
from runtime.execution.hashing import same_bytes
from runtime.execution.interner import text_parts
from runtime.execution.jit import cached_njit
from runtime.language.ast import MIRRORED, Value
from runtime.language.row_eval import COMPARE

Array = npt.NDArray[Any]

_ARROW: dict[str, Callable[..., pa.Array]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
# Up to here, one comparison for each listed value is faster than a search.
_FEW = 8
_FEW_TEXTS = 3


def compare(symbol: str, one: Any, other: Any) -> Mask:
    """Compares two columns row by row."""
    in_arrow = isinstance(one, pa.Array), isinstance(other, pa.Array)
    if all(in_arrow) and one.type == other.type:
        return _from_arrow(_ARROW[symbol](one, other))
    if any(in_arrow):
        return _unlike(symbol, len(one))
    if (one.dtype == np.float64) == (other.dtype == np.float64):
        return _test(symbol, one, other)
    if one.dtype == np.float64:
        return _test(MIRRORED[symbol], _side(other, one), 0)
    return _test(symbol, _side(one, other), 0)


def compare_constant(symbol: str, values: Any, constant: Value) -> Mask:
    """Compares a column with a constant."""
    if isinstance(values, pa.Array):
        if isinstance(constant, str) and pa.types.is_string(values.type):
            if symbol in ("=", "!="):
                return _equal_text(values, constant) ^ (symbol == "!=")
            return _from_arrow(_ARROW[symbol](values, pa.scalar(constant, values.type)))
        return _unlike(symbol, len(values))
    if isinstance(constant, str) or constant is None:
        return _unlike(symbol, len(values))
    if values.dtype == np.float64:
        return _against_double(symbol, values, constant)
    return _against_whole(symbol, values, constant)


def is_one_of(values: Any, wanted: frozenset[Value]) -> Mask:
    if isinstance(values, pa.Array):
        texts = [value for value in wanted if isinstance(value, str)]
        if not texts or not pa.types.is_string(values.type):
            return np.zeros(len(values), np.bool_)
        if len(texts) <= _FEW_TEXTS:
            equal = np.zeros(len(values), np.bool_)
            for text in texts:
                equal |= _equal_text(values, text)
            return equal
        return _from_arrow(pc.is_in(values, value_set=pa.array(texts, values.type)))
    numbers = [value for value in wanted if isinstance(value, int | float)]
    if len(numbers) <= _FEW:
        found = np.zeros(len(values), np.bool_)
        for number in numbers:
            found |= compare_constant("=", values, number)
        return found
    return np.isin(values, _as_dtype(numbers, values.dtype))


def _as_dtype(numbers: list[int | float], dtype: Any) -> Array:
    """The numbers that a value of this type can equal."""
    if dtype == np.float64:
        kept: list[Any] = [x for x in numbers if _nearest(x) == x]
    else:
        limits = np.iinfo(np.int64 if dtype == np.bool_ else dtype)
        whole = [int(x) for x in numbers if math.isfinite(_nearest(x)) and x == int(x)]
        kept = [x for x in whole if limits.min <= x <= limits.max]
        dtype = np.int64 if dtype == np.bool_ else dtype
    return np.array(kept, dtype)


def _against_double(symbol: str, values: Doubles, constant: int | float) -> Mask:
    nearest = _nearest(constant)
    if nearest == constant:
        return _test(symbol, values, nearest)
    if symbol in ("=", "!="):
        return np.full(len(values), symbol == "!=")
    # No double lies between the constant and the one nearest to it.
    below = nearest < constant
    if symbol in ("<", "<="):
        return _test("<=" if below else "<", values, nearest)
    return _test(">" if below else ">=", values, nearest)


def _against_whole(symbol: str, values: Array, constant: int | float) -> Mask:
    if isinstance(constant, float):
        if math.isinf(constant):
            return np.full(len(values), COMPARE[symbol](0.0, constant))
        if constant.is_integer():
            constant = int(constant)
        elif symbol in ("=", "!="):
            return np.full(len(values), symbol == "!=")
        else:
            # Below 2.5 is at most 2; above it is more than 2.
            symbol = "<=" if symbol in ("<", "<=") else ">"
            constant = math.floor(constant)
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    return _test(symbol, values, int(constant))


def _test(symbol: str, one: Any, other: Any) -> Mask:
    result: Any = COMPARE[symbol](one, other)
    return result  # type: ignore[no-any-return]


def _nearest(constant: int | float) -> float:
    try:
        return float(constant)
    except OverflowError:
        return math.inf if constant > 0 else -math.inf


def _side(whole: Array, doubles: Doubles) -> npt.NDArray[np.int8]:
    """-1, 0 or 1 if the integer is below, at or above the double."""
    whole = whole.view(np.uint8).astype(np.int64) if whole.dtype == np.bool_ else whole
    limits = np.iinfo(whole.dtype)
    low, high = float(limits.min), float(limits.max)  # the latter rounds up, beyond the type
    inside = (doubles >= low) & (doubles < high)
    floor = np.floor(doubles, where=inside, out=np.zeros(len(doubles)))
    exact = floor.astype(whole.dtype)
    side = (whole > exact).astype(np.int8) - (whole < exact)
    # On the floor itself, but below the double.
    side[(side == 0) & (floor < doubles)] = -1
    side[doubles >= high] = -1
    side[doubles < low] = 1
    return side


def _unlike(symbol: str, size: int) -> Mask:
    """Values of different kinds are unequal, and neither is less than the other."""
    return np.full(size, symbol == "!=")


def _from_arrow(mask: pa.Array) -> Mask:
    filled = mask.fill_null(False) if mask.null_count else mask
    found: Mask = filled.to_numpy(zero_copy_only=False)
    return found


def _equal_text(column: pa.Array, text: str) -> Mask:
    """Takes two thirds of the time that Arrow needs."""
    offsets, data = text_parts(column)
    encoded = text.encode()
    # Padded, so that the last bytes can be read as a whole word.
    wanted = np.frombuffer(encoded + bytes(8), np.uint8)
    found = np.empty(len(column), np.bool_)
    _mark_equal(offsets, data, wanted, len(encoded), found)
    return found


@cached_njit
def _mark_equal(offsets, data, wanted, size, found):  # type: ignore[no-untyped-def]
    for row in range(len(found)):
        start = np.int64(offsets[row])
        found[row] = offsets[row + 1] - start == size and same_bytes(data, start, wanted, 0, size)
