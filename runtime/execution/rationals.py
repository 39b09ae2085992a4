"""Exact numbers. A sum of integers is a whole number; a sum of doubles is a whole number of
2^-1074, the smallest double, so that it stays an `int` and never rounds."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

FRACTION_BITS = 1074


def whole(value: float) -> int:
    """A finite double as a whole number of 2^-1074."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (FRACTION_BITS + 1 - denominator.bit_length())


def rational(total: int, power: int) -> Fraction:
    """What a sum of such whole numbers to the power of `power` stands for."""
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
    # A last bit says whether the root goes on, so that rounding sees which side it is on.
    goes_on = root * root * value.denominator != scaled
    return as_double(Fraction(2 * root + goes_on, 2 << shift // 2))


def log2(value: int | Fraction) -> float:
    """The base-2 logarithm of the absolute value, at any magnitude."""
    return math.log2(abs(value.numerator)) - math.log2(value.denominator)


def decimal_text(value: int) -> str:
    """All digits. Python guards `str` against long numbers from outside; this one is ours."""
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
