"""Exact arithmetic: a sum of doubles is kept as an integer multiple of 2^-1074, so it never rounds.

2^-1074 is the smallest double. A sum of integers is a plain `int`.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

FRACTION_BITS = 1074


def whole(value: float) -> int:
    """A finite double as an integer multiple of 2^-1074."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (FRACTION_BITS + 1 - denominator.bit_length())


def rational(total: int, power: int) -> Fraction:
    """The value of a sum of such integers to the power of `power`."""
    return Fraction(total, 1 << power * FRACTION_BITS)


def as_double(value: int | Fraction) -> float:
    """Rounded once, to nearest; beyond the range of a double it is infinite."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def square_root(value: Fraction) -> float:
    """Rounded once, to nearest."""
    shift = max(0, 128 + value.denominator.bit_length() - value.numerator.bit_length())
    shift += shift % 2
    scaled = value.numerator << shift
    root = math.isqrt(scaled // value.denominator)
    # A last bit says whether the root is inexact, so that it is rounded to the right side.
    inexact = root * root * value.denominator != scaled
    return as_double(Fraction(2 * root + inexact, 2 << shift // 2))


def log2(value: int | Fraction) -> float:
    """The base-2 logarithm of the absolute value, at any magnitude."""
    return math.log2(abs(value.numerator)) - math.log2(value.denominator)


def decimal_text(value: int) -> str:
    """All digits. Lifts Python's limit on the length of `str`, which guards against untrusted
    input."""
    limit = sys.get_int_max_str_digits()
    if limit == 0 or value.bit_length() < 3 * limit:
        return str(value)
    sys.set_int_max_str_digits(0)
    try:
        return str(value)
    finally:
        sys.set_int_max_str_digits(limit)


def least(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def greatest(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
