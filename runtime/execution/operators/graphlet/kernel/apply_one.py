"""Applies a burst's operator to one vector of one query.

If the burst's first event extends `u` trends, the burst creates g*u new partial trends: g is
2**c - 1 if the state loops, otherwise c. Computes in doubles if numbers are small enough (`plain`),
otherwise with exponents. `base` is the start of the query's words in the vector; they are `step`
words apart, as many as there are vectors.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import brief, inlined
from runtime.execution.wide_float import LARGE, SMALL, add, mul, normal, power

from .record import (
    E_ACTIVE,
    E_FIRST,
    E_LANES,
    E_LIVE,
    E_LOOP,
    E_MINS,
    E_PREDS,
    E_PREDS_END,
    E_STATE,
    LIMIT,
    MINS,
    POWERS,
    RC_LANES,
    RC_MINS,
    RC_QUERIES,
    W_GROWN,
    W_LEAST,
    W_PARTS,
)


@inlined
def plain(h, s, e, f, count, base, step, start):
    """One vector of one query in doubles; returns False and changes nothing if a number would get
    too large."""
    rf, tab, wi, wf = h.rf, h.tab, h.wi, h.wf
    lanes, side = tab[e + E_ACTIVE], step * tab[f + RC_QUERIES]
    at = base + step * tab[e + E_STATE]
    loop = tab[e + E_LOOP] != 0
    n = rf[s, at]
    u = n if loop else 0.0
    if tab[e + E_FIRST] != 0:
        u += start
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    for p in range(begin, end):
        u += rf[s, base + step * tab[p]]
    if u == 0.0:
        return True
    scale, g = 1.0, np.float64(count)
    if loop:
        scale = POWERS[count - 1]
        g = POWERS[count] - 1.0
    total = n + g * u
    fits = total < LIMIT
    grown = wi[W_GROWN]
    for j in range(lanes):
        a = rf[s, at + (1 + j) * side]
        w = a if loop else 0.0
        for p in range(tab[e + E_LIVE], end):
            w += rf[s, base + step * tab[p] + (1 + j) * side]
        a += g * w + scale * wf[W_PARTS + tab[e + E_LANES + j]] * u
        fits = fits and abs(a) < LIMIT
        wf[grown + j] = a
    if not fits:
        return False
    rf[s, at] = total
    for j in range(lanes):
        rf[s, at + (1 + j) * side] = wf[grown + j]
    if MINS:
        minima(h, s, e, f, base, step)
    return True


@brief
def minima(h, s, e, f, base, step):
    """The minima of new trends: of those they extend and of the events of the burst."""
    ri, tab, wi = h.ri, h.tab, h.wi
    lanes, side = tab[f + RC_LANES], step * tab[f + RC_QUERIES]
    for j in range(tab[f + RC_MINS]):
        lane = (1 + lanes + j) * side
        at = base + step * tab[e + E_STATE] + lane
        low = ri[s, at]
        for p in range(tab[e + E_PREDS], tab[e + E_PREDS_END]):
            low = min(low, ri[s, base + step * tab[p] + lane])
        part = tab[e + E_MINS + j]
        if part >= 0:
            low = min(low, wi[W_LEAST + part])
        ri[s, at] = low


@inlined
def align(steps):
    """The factor of a mantissa that is `steps` exponents below another."""
    return 1.0 if steps == 0 else (SMALL if steps == 1 else 0.0)


@inlined
def keep(h, s, at, m, exponent):
    """Stores a number that is at most one step from its normal form."""
    rf, ex = h.rf, h.ex
    if abs(m) >= LARGE:
        m *= SMALL
        exponent += 1
    elif exponent > 0 and abs(m) < 1.0:
        m *= LARGE
        exponent = exponent - 1 if m != 0.0 else 0
    rf[s, at] = m
    ex[s, at] = exponent


@brief
def aligned_one(h, s, e, f, count, base, step, start):
    """Like `plain` with exponents: terms are scaled to the largest exponent among them and added
    as doubles."""
    rf, ex, tab, wf = h.rf, h.ex, h.tab, h.wf
    lanes, side = tab[e + E_ACTIVE], step * tab[f + RC_QUERIES]
    at = base + step * tab[e + E_STATE]
    loop = tab[e + E_LOOP] != 0
    own = 1.0 if loop else 0.0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    scale, g = 1.0, np.float64(count)
    if loop:
        scale = POWERS[count - 1]
        g = POWERS[count] - 1.0
    top = np.int64(ex[s, at])
    for p in range(begin, end):
        top = max(top, ex[s, base + step * tab[p]])
    n = rf[s, at] * align(top - ex[s, at])
    u = own * n
    if tab[e + E_FIRST] != 0:
        u += start * align(top)
    for p in range(begin, end):
        u += rf[s, base + step * tab[p]] * align(top - ex[s, base + step * tab[p]])
    if u == 0.0:
        return
    keep(h, s, at, n + g * u, top)
    for j in range(lanes):
        lane = (1 + j) * side
        most = max(top, ex[s, at + lane])
        for p in range(tab[e + E_LIVE], end):
            most = max(most, ex[s, base + step * tab[p] + lane])
        a = rf[s, at + lane] * align(most - ex[s, at + lane])
        w = own * a
        for p in range(tab[e + E_LIVE], end):
            there = base + step * tab[p] + lane
            w += rf[s, there] * align(most - ex[s, there])
        part = scale * wf[W_PARTS + tab[e + E_LANES + j]]
        keep(h, s, at + lane, a + g * w + part * (u * align(most - top)), most)
    if MINS:
        minima(h, s, e, f, base, step)


@brief
def wide_one(h, s, e, f, count, base, step, start):
    """One vector of one query with exponents."""
    rf, ex, tab, wf = h.rf, h.ex, h.tab, h.wf
    lanes, side = tab[e + E_ACTIVE], step * tab[f + RC_QUERIES]
    at = base + step * tab[e + E_STATE]
    loop = tab[e + E_LOOP] != 0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    um, ue = 0.0, 0
    if loop:
        um, ue = rf[s, at], ex[s, at]
    if tab[e + E_FIRST] != 0:
        um, ue = add(um, ue, start, 0)
    for p in range(begin, end):
        um, ue = add(um, ue, rf[s, base + step * tab[p]], ex[s, base + step * tab[p]])
    if um == 0.0:
        return
    sm, se, gm, ge = 1.0, 0, np.float64(count), 0
    if loop:
        sm, se = power(count - 1)
        gm, ge = power(count)
        if count <= 53:
            gm -= 1.0
    nm, ne = mul(gm, ge, um, ue)
    nm, ne = add(rf[s, at], ex[s, at], nm, ne)
    hm, he = mul(sm, se, um, ue)
    for j in range(lanes):
        lane = (1 + j) * side
        am, ae = rf[s, at + lane], ex[s, at + lane]
        wm, we = 0.0, 0
        if loop:
            wm, we = am, ae
        for p in range(tab[e + E_LIVE], end):
            wm, we = add(
                wm, we, rf[s, base + step * tab[p] + lane], ex[s, base + step * tab[p] + lane]
            )
        wm, we = mul(gm, ge, wm, we)
        am, ae = add(am, ae, wm, we)
        xm, xe = normal(wf[W_PARTS + tab[e + E_LANES + j]], 0)
        xm, xe = mul(xm, xe, hm, he)
        am, ae = add(am, ae, xm, xe)
        rf[s, at + lane] = am
        ex[s, at + lane] = ae
    rf[s, at] = nm
    ex[s, at] = ne
    if MINS:
        minima(h, s, e, f, base, step)
