"""Reads and writes the wide floats of a row."""

from __future__ import annotations

from runtime.execution.jit import brief
from runtime.execution.wide_float import add, mul, normal

from .record import BIG, FLAGS


@brief
def grow(h, s, at, factor, m, e):
    """Adds factor times a number to the number at an index."""
    fm, fe = normal(factor, 0)
    accumulate(h, s, at, fm, fe, m, e)


@brief
def accumulate(h, s, at, fm, fe, m, e):
    """Adds the product of two numbers to the number at an index."""
    ri, rf, ex = h.ri, h.rf, h.ex
    m, e = mul(fm, fe, m, e)
    m, e = add(rf[s, at], ex[s, at], m, e)
    rf[s, at] = m
    if e > 0 or ex[s, at] > 0:
        ex[s, at] = e
        ri[s, FLAGS] |= BIG
