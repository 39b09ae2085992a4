"""Sums and searches over a range of one node of a tree.

The functions have few arguments and call nothing, so that LLVM vectorizes them.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import inlined, scanning
from runtime.execution.operators.range_index.node_arena import NONE
from runtime.execution.wide_float import SMALL

NOTHING = np.iinfo(np.int64).max  # the least of no values


@scanning
def total_of(values):
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@scanning
def total_at(values, powers, top):
    """The sum in units of the greatest exponent; numbers two exponents below do not count."""
    total, less = 0.0, 0.0
    for i in range(values.size):
        total += values[i] if powers[i] == top else 0.0
        less += values[i] if powers[i] == top - 1 else 0.0
    return total + less * SMALL


@scanning
def greatest_exponent(powers):
    top = np.int32(0)
    for i in range(powers.size):
        top = max(top, powers[i])
    return top


@inlined
def _is_inside(each, key, below, at, above):
    return (below & (each < key)) | (at & (each == key)) | (above & (each > key))


@scanning
def range_total(keys, values, key, below, at, above):
    total = 0.0
    for i in range(keys.size):
        total += values[i] if _is_inside(keys[i], key, below, at, above) else 0.0
    return total


@scanning
def range_total_at(keys, values, powers, top, key, below, at, above):
    total, less = 0.0, 0.0
    for i in range(keys.size):
        value = values[i] if _is_inside(keys[i], key, below, at, above) else 0.0
        total += value if powers[i] == top else 0.0
        less += value if powers[i] == top - 1 else 0.0
    return total + less * SMALL


@scanning
def range_greatest_exponent(keys, powers, key, below, at, above):
    top = np.int32(0)
    for i in range(keys.size):
        top = max(top, powers[i] if _is_inside(keys[i], key, below, at, above) else np.int32(0))
    return top


@scanning
def range_least(keys, leasts, key, below, at, above):
    least = NOTHING
    for i in range(keys.size):
        least = min(least, leasts[i] if _is_inside(keys[i], key, below, at, above) else NOTHING)
    return least


@scanning
def least_of(leasts):
    least = NOTHING
    for i in range(leasts.size):
        least = min(least, leasts[i])
    return least


@scanning
def count_up_to(keys, key):
    count = 0
    for i in range(keys.size):
        count += keys[i] <= key
    return count


@scanning
def place_of(keys, key):
    place = NONE
    for i in range(keys.size):
        place = i if keys[i] == key else place
    return place
