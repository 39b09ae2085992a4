"""Applies a burst's operator to all vectors of contiguous queries, in loops over adjacent words.

`apply_one.py` does the same for one vector of one query.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import apart, inlined

from .apply_one import align, keep, minima
from .record import (
    E_ACTIVE,
    E_FIRST,
    E_LANES,
    E_LIVE,
    E_LOOP,
    E_PREDS,
    E_PREDS_END,
    E_STATE,
    LIMIT,
    MINS,
    POWERS,
    RC_QUERIES,
    W_GROWN,
    W_PARTS,
)
from .vectors import start_of


@apart
def wide(h, s, e, f, queries, count, base, step, idle):
    """Like `plain` for contiguous queries. All numbers are computed in scratch before any is
    stored. Indexes are unsigned, which avoids the check for negative ones and lets LLVM vectorize
    these loops."""
    rf, tab, wi, wf = h.rf, h.tab, h.wi, h.wf
    lanes = np.uintp(tab[e + E_ACTIVE])
    side, n = np.uintp(step * tab[f + RC_QUERIES]), np.uintp(step * queries)
    first = np.uintp(base)
    at = first + np.uintp(step * tab[e + E_STATE])
    loop = tab[e + E_LOOP] != 0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    us = np.uintp(wi[W_GROWN])
    own = 1.0 if loop else 0.0
    for i in range(n):
        wf[us + i] = own * rf[s, at + i]
    if tab[e + E_FIRST] != 0:
        begin_trends(h, us, n, step, idle)
    for p in range(begin, end):
        before = first + np.uintp(step * tab[p])
        for i in range(n):
            wf[us + i] += rf[s, before + i]
    entering = 0
    for i in range(n):
        entering += wf[us + i] != 0.0
    if entering == 0:
        return True
    scale, g = 1.0, np.float64(count)
    if loop:
        scale = POWERS[count - 1]
        g = POWERS[count] - 1.0
    large = 0
    totals = us + n
    for i in range(n):
        wf[totals + i] = rf[s, at + i] + g * wf[us + i]
        large += not wf[totals + i] < LIMIT
    for j in range(lanes):
        lane = at + (j + np.uintp(1)) * side
        to = totals + (j + np.uintp(1)) * n
        part = scale * wf[W_PARTS + tab[e + E_LANES + j]]
        for i in range(n):
            wf[to + i] = own * rf[s, lane + i]
        for p in range(tab[e + E_LIVE], end):
            before = first + np.uintp(step * tab[p]) + (j + np.uintp(1)) * side
            for i in range(n):
                wf[to + i] += rf[s, before + i]
        for i in range(n):
            wf[to + i] = rf[s, lane + i] + g * wf[to + i] + part * wf[us + i]
            large += not abs(wf[to + i]) < LIMIT
    if large > 0:
        return False
    for j in range(lanes + np.uintp(1)):
        for i in range(n):
            rf[s, at + j * side + i] = wf[totals + j * n + i]
    if MINS:
        for i in range(step * queries):
            if wf[us + np.uintp(i)] != 0.0:
                minima(h, s, e, f, base + i, step)
    return True


@apart
def aligned(h, s, e, f, queries, count, base, step, idle):
    """Like `wide` with exponents: terms are scaled to the largest exponent among them and added
    as doubles."""
    rf, ex, tab, wi, wf = h.rf, h.ex, h.tab, h.wi, h.wf
    lanes = np.uintp(tab[e + E_ACTIVE])
    side, n = np.uintp(step * tab[f + RC_QUERIES]), np.uintp(step * queries)
    first = np.uintp(base)
    at = first + np.uintp(step * tab[e + E_STATE])
    loop = tab[e + E_LOOP] != 0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    own = 1.0 if loop else 0.0
    scale, g = 1.0, np.float64(count)
    if loop:
        scale = POWERS[count - 1]
        g = POWERS[count] - 1.0
    us = np.uintp(wi[W_GROWN])
    tops, mosts, ns = us + n, us + np.uintp(2) * n, us + np.uintp(3) * n
    largest(h, s, at, first, np.uintp(0), begin, end, n, step, tops)
    for i in range(n):
        wf[us + i] = 0.0
    if tab[e + E_FIRST] != 0:
        begin_trends(h, us, n, step, idle)
    for i in range(n):
        wf[ns + i] = rf[s, at + i] * align(wi[tops + i] - ex[s, at + i])
        wf[us + i] = own * wf[ns + i] + wf[us + i] * align(wi[tops + i])
    for p in range(begin, end):
        before = first + np.uintp(step * tab[p])
        for i in range(n):
            wf[us + i] += rf[s, before + i] * align(wi[tops + i] - ex[s, before + i])
    entering = 0
    for i in range(n):
        entering += wf[us + i] != 0.0
    if entering == 0:
        return
    for i in range(n):
        keep(h, s, at + i, wf[ns + i] + g * wf[us + i], wi[tops + i])
    for j in range(lanes):
        offset = (j + np.uintp(1)) * side
        lane = at + offset
        part = scale * wf[W_PARTS + tab[e + E_LANES + j]]
        largest(h, s, lane, first, offset, tab[e + E_LIVE], end, n, step, mosts)
        for i in range(n):
            wi[mosts + i] = max(wi[mosts + i], wi[tops + i])
            a = rf[s, lane + i] * align(wi[mosts + i] - ex[s, lane + i])
            more = part * (wf[us + i] * align(wi[mosts + i] - wi[tops + i]))
            wf[ns + i] = a + own * g * a + more
        for p in range(tab[e + E_LIVE], end):
            before = first + np.uintp(step * tab[p]) + offset
            for i in range(n):
                wf[ns + i] += g * (rf[s, before + i] * align(wi[mosts + i] - ex[s, before + i]))
        for i in range(n):
            keep(h, s, lane + i, wf[ns + i], wi[mosts + i])
    if MINS:
        for i in range(step * queries):
            if wf[us + np.uintp(i)] != 0.0:
                minima(h, s, e, f, base + i, step)


@inlined
def begin_trends(h, us, n, step, idle):
    """Adds a starting trend to the extended trends of each vector in which trends may start."""
    wf = h.wf
    if idle == -1:
        for i in range(n):
            wf[us + i] += 1.0
    else:
        for v in range(step):
            for i in range(np.uintp(v), n, np.uintp(step)):
                wf[us + i] += start_of(v, idle)


@inlined
def largest(h, s, at, first, offset, begin, end, n, step, to):
    """For each query the largest exponent in a lane, of the state and those before it."""
    ex, tab, wi = h.ex, h.tab, h.wi
    for i in range(n):
        wi[to + i] = ex[s, at + i]
    for p in range(begin, end):
        before = first + np.uintp(step * tab[p]) + offset
        for i in range(n):
            wi[to + i] = max(wi[to + i], ex[s, before + i])
