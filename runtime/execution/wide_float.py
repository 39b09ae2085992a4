"""Floats with a wide exponent: 53 bits of precision at any magnitude.

A number is `m * 2**(512 * e)` with a double `m` and a whole `e >= 0`. Normal form: with `e == 0`
any `|m| < 2**512`, so ordinary doubles are unchanged and integers below 2**53 are exact; with
`e > 0`, `1 <= |m| < 2**512`. So if the exponents of two numbers differ by two or more, the smaller
is negligible in their sum, and a product of two mantissas never overflows.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import cached_njit, inlined_njit

STEP = 512
LARGE = 2.0**STEP
SMALL = 2.0**-STEP


@inlined_njit
def normal(m, e):
    """The normal form of a number whose mantissa may be out of range (but is finite)."""
    while abs(m) >= LARGE:
        m *= SMALL
        e += 1
    while e > 0 and abs(m) < 1.0:
        if m == 0.0:
            return m, e * 0
        m *= LARGE
        e -= 1
    return m, e


@cached_njit
def add(m, e, n, f):
    """The sum of two normal numbers."""
    if e == f:
        if e == 0:
            total = m + n
            if abs(total) < LARGE:
                return total, e
            return total * SMALL, e + 1
        return normal(m + n, e)
    if e < f:
        m, e, n, f = n, f, m, e
    if e == f + 1:
        return normal(m + n * SMALL, e)
    return m, e


@cached_njit
def mul(m, e, n, f):
    """The product of two normal numbers."""
    return normal(m * n, e + f)


@cached_njit
def power(c):
    """2**c for a whole c >= 0."""
    e = c // STEP
    return 2.0 ** np.float64(c - e * STEP), e
