"""Applies bursts to sequences: steps from one state into the next, in doubles.

Most states of a workload of sequences have one predecessor and do not repeat. A burst costs them
one multiplication and one addition per number, so the overhead matters: their entries are described
in a few words each (`S_...`) and processed in one loop, and numbers are stored before it is known
whether they are still small. They always stay normal: doubles of a row that is not BIG are below
LIMIT, the operator is *modest*, and the result is below LARGE. So it is enough to mark the row
afterwards.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import apart, inlined

from .operators import attributes
from .record import (
    BIG,
    E_LANES,
    E_MINS,
    E_SIZE,
    E_STEP,
    E_STEPS,
    EXACT_POWER,
    FLAGS,
    LIMIT,
    MINS,
    MODEST,
    RC_LANES,
    RC_MINS,
    RC_QUERIES,
    S_ACTIVE,
    S_ENTRY,
    S_FROM,
    S_LIVE,
    S_QUERIES,
    S_ROW_CLASS,
    S_SIZE,
    S_TO,
    W_LEAST,
    W_PARTS,
)
from .vectors import start_of, vectors


@inlined
def modest(h, t):
    """Whether the operator adds far less than LIMIT for each trend."""
    _, number = attributes(h, t)
    large = 0
    for j in range(number):
        large += not abs(h.wf[W_PARTS + 2 + 2 * j]) < MODEST
    return large == 0


@inlined
def apply_steps(h, s, t, first, count):
    """Applies the operator to the steps of a type and bit, whose entries begin at `first`, if
    doubles suffice. Returns the first entry that is left."""
    ri, tab = h.ri, h.tab
    steps = tab[first + E_STEPS]
    if steps == 0 or ri[s, FLAGS] & BIG or count > EXACT_POWER or not modest(h, t):
        return first
    begin = tab[first + E_STEP]
    if step(h, s, begin, begin + steps * S_SIZE, count):
        ri[s, FLAGS] |= BIG
    return first + steps * E_SIZE


@apart
def step(h, s, begin, end, count):
    """Applies the operator in scratch to the entries from `begin` to `end`. Returns whether a
    number has become large."""
    rf, tab = h.rf, h.tab
    c = np.float64(count)
    large = 0
    at, wide, idle, row_class = np.uintp(0), np.uintp(0), 0, -1
    for r in range(np.uintp(begin), np.uintp(end), np.uintp(S_SIZE)):
        f = tab[r + np.uintp(S_ROW_CLASS)]
        if f != row_class:
            first, many, idle = vectors(h, s, f)
            at, wide = np.uintp(first), np.uintp(many)
            row_class = f
        n = wide * np.uintp(tab[r + np.uintp(S_QUERIES)])
        to = at + wide * np.uintp(tab[r + np.uintp(S_TO)])
        source = tab[r + np.uintp(S_FROM)]
        if source < 0:
            begin_trends(h, s, r, to, n, np.int64(wide), idle, count)
            continue
        before = at + wide * np.uintp(source)
        for i in range(n):
            total = rf[s, to + i] + c * rf[s, before + i]
            rf[s, to + i] = total
            large += not total < LIMIT
        if tab[r + np.uintp(S_ACTIVE)] > 0:
            large += step_sums(h, s, r, to, before, n, wide, c)
        if MINS and tab[f + RC_MINS] > 0:
            step_minima(h, s, r, to, before, n, np.int64(wide))
    return large > 0


@inlined
def step_sums(h, s, r, to, before, n, wide, c):
    rf, tab, wf = h.rf, h.tab, h.wf
    row_class, e = np.uintp(tab[r + np.uintp(S_ROW_CLASS)]), np.uintp(tab[r + np.uintp(S_ENTRY)])
    side = wide * np.uintp(tab[row_class + np.uintp(RC_QUERIES)])
    large = 0
    for j in range(np.uintp(tab[r + np.uintp(S_ACTIVE)])):
        lane = (j + np.uintp(1)) * side
        part = wf[np.uintp(W_PARTS + tab[e + j + np.uintp(E_LANES)])]
        if tab[r + np.uintp(S_LIVE)] != 0:
            for i in range(n):
                a = rf[s, to + lane + i] + c * rf[s, before + lane + i] + part * rf[s, before + i]
                rf[s, to + lane + i] = a
                large += not abs(a) < LIMIT
        else:
            for i in range(n):
                a = rf[s, to + lane + i] + part * rf[s, before + i]
                rf[s, to + lane + i] = a
                large += not abs(a) < LIMIT
    return large


@inlined
def step_minima(h, s, r, to, before, n, wide):
    """Updates the minima of states with trends to extend."""
    ri, rf, tab, wi = h.ri, h.rf, h.tab, h.wi
    f, e = tab[r + S_ROW_CLASS], tab[r + S_ENTRY]
    side = np.uintp(wide * tab[f + RC_QUERIES])
    for j in range(tab[f + RC_MINS]):
        lane = np.uintp(1 + tab[f + RC_LANES] + j) * side
        part = tab[e + E_MINS + j]
        for i in range(n):
            low = min(ri[s, to + lane + i], ri[s, before + lane + i])
            if part >= 0:
                low = min(low, wi[W_LEAST + part])
            ri[s, to + lane + i] = low if rf[s, before + i] != 0.0 else ri[s, to + lane + i]


@inlined
def begin_trends(h, s, r, to, n, wide, idle, count):
    """Every event starts a trend in each vector in which trends may start."""
    ri, rf, tab, wi, wf = h.ri, h.rf, h.tab, h.wi, h.wf
    f, e = tab[r + S_ROW_CLASS], tab[r + S_ENTRY]
    side = np.uintp(wide * tab[f + RC_QUERIES])
    for v in range(wide):
        if start_of(v, idle) == 0.0:
            continue
        for i in range(to + np.uintp(v), to + n, np.uintp(wide)):
            rf[s, i] += count
            for j in range(tab[r + S_ACTIVE]):
                rf[s, i + np.uintp(1 + j) * side] += wf[W_PARTS + tab[e + E_LANES + j]]
            if MINS:
                for j in range(tab[f + RC_MINS]):
                    lane = np.uintp(1 + tab[f + RC_LANES] + j) * side
                    part = tab[e + E_MINS + j]
                    if part >= 0:
                        ri[s, i + lane] = min(ri[s, i + lane], wi[W_LEAST + part])
