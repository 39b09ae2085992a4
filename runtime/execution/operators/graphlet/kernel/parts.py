"""Shared sub-patterns of several types: one matrix serves all queries.

The part has its own row class. Its states are those of the shared sub-automaton and one for each
entry into it; its contiguous 'queries' are the columns of the matrix: column c begins with one
partial trend in state c. Events of the part update the matrix alone. When an event enters another
state of some of the queries, or a result is due, the matrix is applied to the **snapshot** of every
query, window by window, and reset: the part is *settled*.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import apart, brief
from runtime.execution.wide_float import add, mul

from .apply_many import begin_trends
from .record import (
    BIG,
    FLAGS,
    LIMIT,
    MINS,
    NEUTRAL,
    P_INSIDE,
    P_ROW_CLASS,
    P_RUNS,
    P_RUNS_END,
    P_SIZE,
    P_STATES,
    PENDING,
    R_COLUMNS,
    R_PLACE,
    R_QUERIES,
    R_ROW_CLASS,
    RC_BLOCK,
    RC_LANES,
    RC_MINS,
    RC_QUERIES,
    RC_WINDOWS,
    T_PART,
    T_PARTS,
    T_STEPPED,
    T_TOUCHED,
    W_GROWN,
)
from .vectors import start_of, vectors


@brief
def touch(h, s, t):
    """Before a burst of a type: settles the parts whose queries it affects outside of them, and
    marks those that it will update."""
    ri, tab = h.ri, h.tab
    due = ri[s, FLAGS] & tab[tab[T_TOUCHED] + t]
    if due:
        settle_parts(h, s, due)
    ri[s, FLAGS] |= tab[tab[T_STEPPED] + t]


@brief
def settle_parts(h, s, due):
    ri, tab = h.ri, h.tab
    for p in range(tab[T_PARTS]):
        if due & (PENDING << p):
            part = tab[T_PART] + p * P_SIZE
            for at in range(tab[part + P_RUNS], tab[part + P_RUNS_END]):
                settle_run(h, s, part, tab[at])
            identity(h, s, part)
            ri[s, FLAGS] &= ~(PENDING << p)


@brief
def settle_run(h, s, part, run):
    """Applies the matrix to contiguous queries."""
    ri, tab = h.ri, h.tab
    at, step, idle = vectors(h, s, tab[run + R_ROW_CLASS])
    base = at + step * tab[run + R_PLACE]
    snapshots(h, s, part, run, base, step, idle)
    if ri[s, FLAGS] & BIG == 0 and in_doubles(h, s, part, run, base, step):
        return
    ri[s, FLAGS] |= BIG
    with_exponents(h, s, part, run, base, step, idle)


@brief
def identity(h, s, part):
    """Resets the matrix to the identity: no events."""
    ri, rf, ex, tab = h.ri, h.rf, h.ex, h.tab
    f = tab[part + P_ROW_CLASS]
    at, size, side = tab[f + RC_WINDOWS], tab[f + RC_BLOCK], tab[f + RC_QUERIES]
    for w in range(at, at + size):
        rf[s, w] = 0.0
    if ri[s, FLAGS] & BIG:
        for w in range(at, at + size):
            ex[s, w] = 0
    step = size // side
    for c in range(side):
        rf[s, at + c * step + c] = 1.0
    if MINS:
        lanes, mins = tab[f + RC_LANES], tab[f + RC_MINS]
        for c in range(side):
            first = at + c * step + (1 + lanes) * side
            for w in range(first, first + mins * side):
                ri[s, w] = NEUTRAL


@apart
def snapshots(h, s, part, run, base, step, idle):
    """Writes the input of each query for each column and vector to scratch: counts, sums, then
    minima."""
    ri, rf, tab, wi, wf = h.ri, h.rf, h.tab, h.wi, h.wf
    f = tab[run + R_ROW_CLASS]
    side, n = np.uintp(step * tab[f + RC_QUERIES]), np.uintp(step * tab[run + R_QUERIES])
    lanes, mins = tab[f + RC_LANES], tab[f + RC_MINS]
    to = np.uintp(wi[W_GROWN])
    for c in range(tab[part + P_STATES]):
        column = run + R_COLUMNS + 3 * c
        begin, end = tab[column + 1], tab[column + 2]
        for j in range(1 + lanes):
            for i in range(n):
                wf[to + i] = 0.0
            if j == 0 and tab[column] != 0:
                begin_trends(h, to, n, step, idle)
            for p in range(begin, end):
                there = np.uintp(base + step * tab[p]) + np.uintp(j) * side
                for i in range(n):
                    wf[to + i] += rf[s, there + i]
            to += n
        for j in range(1 + lanes, 1 + lanes + mins):
            for i in range(n):
                wi[to + i] = NEUTRAL
            for p in range(begin, end):
                there = np.uintp(base + step * tab[p]) + np.uintp(j) * side
                for i in range(n):
                    wi[to + i] = min(wi[to + i], ri[s, there + i])
            to += n


@apart
def in_doubles(h, s, part, run, base, step):
    """The matrix times the snapshots; returns False and changes nothing if a number gets too
    large."""
    rf, tab, wi, wf = h.rf, h.tab, h.wi, h.wf
    f, g = tab[run + R_ROW_CLASS], tab[part + P_ROW_CLASS]
    side, n = np.uintp(step * tab[f + RC_QUERIES]), np.uintp(step * tab[run + R_QUERIES])
    lanes, mins, states = tab[f + RC_LANES], tab[f + RC_MINS], tab[part + P_STATES]
    size = np.uintp(1 + lanes + mins) * n
    from_ = np.uintp(wi[W_GROWN])
    to = from_ + np.uintp(states) * size
    matrix, wide = tab[g + RC_WINDOWS], tab[g + RC_QUERIES]
    rows = tab[g + RC_BLOCK] // states
    maps = run + R_COLUMNS + 3 * states
    large = 0
    for q in range(tab[part + P_INSIDE]):
        here = to + np.uintp(q) * size
        for w in range(np.uintp(1 + lanes) * n):
            wf[here + w] = 0.0
        for c in range(states):
            m = rf[s, matrix + q * rows + c]
            if m == 0.0:
                continue
            there = from_ + np.uintp(c) * size
            for w in range(np.uintp(1 + lanes) * n):
                wf[here + w] += m * wf[there + w]
            for j in range(lanes):
                lane = tab[maps + j]
                if lane < 0:
                    continue
                a = rf[s, matrix + q * rows + (1 + lane) * wide + c]
                at = here + np.uintp(1 + j) * n
                for i in range(n):
                    wf[at + i] += a * wf[there + i]
        for w in range(np.uintp(1 + lanes) * n):
            large += not abs(wf[here + w]) < LIMIT
    if large > 0:
        return False
    for q in range(tab[part + P_INSIDE]):
        here = to + np.uintp(q) * size
        state = np.uintp(base + step * tab[tab[run + R_COLUMNS + 3 * q + 1]])
        if MINS:
            least(h, s, part, run, q, base, step)
        for j in range(np.uintp(1 + lanes)):
            for i in range(n):
                rf[s, state + j * side + i] = wf[here + j * n + i]
    return True


@brief
def least(h, s, part, run, q, base, step):
    """The minima of an inner state, over the columns that reach it from existing trends."""
    ri, rf, tab, wi, wf = h.ri, h.rf, h.tab, h.wi, h.wf
    f, g = tab[run + R_ROW_CLASS], tab[part + P_ROW_CLASS]
    side, n = step * tab[f + RC_QUERIES], step * tab[run + R_QUERIES]
    lanes, mins, states = tab[f + RC_LANES], tab[f + RC_MINS], tab[part + P_STATES]
    size = (1 + lanes + mins) * n
    matrix, wide = tab[g + RC_WINDOWS], tab[g + RC_QUERIES]
    rows = tab[g + RC_BLOCK] // states
    maps = run + R_COLUMNS + 3 * states + lanes
    state = base + step * tab[tab[run + R_COLUMNS + 3 * q + 1]]
    for j in range(mins):
        lane = tab[maps + j]
        for i in range(n):
            low = NEUTRAL
            for c in range(states):
                there = wi[W_GROWN] + c * size
                if rf[s, matrix + q * rows + c] == 0.0 or wf[there + i] == 0.0:
                    continue
                low = min(low, wi[there + (1 + lanes + j) * n + i])
                if lane >= 0:
                    at = matrix + q * rows + (1 + tab[g + RC_LANES] + lane) * wide + c
                    low = min(low, ri[s, at])
            ri[s, state + (1 + lanes + j) * side + i] = low


@brief
def with_exponents(h, s, part, run, base, step, idle):
    """Like `in_doubles` with exponents, number by number."""
    rf, ex, tab, wi, wf = h.rf, h.ex, h.tab, h.wi, h.wf
    f, g = tab[run + R_ROW_CLASS], tab[part + P_ROW_CLASS]
    side, n = step * tab[f + RC_QUERIES], step * tab[run + R_QUERIES]
    lanes, mins, states = tab[f + RC_LANES], tab[f + RC_MINS], tab[part + P_STATES]
    matrix, wide = tab[g + RC_WINDOWS], tab[g + RC_QUERIES]
    rows = tab[g + RC_BLOCK] // states
    maps = run + R_COLUMNS + 3 * states
    if MINS:
        for q in range(tab[part + P_INSIDE]):
            least(h, s, part, run, q, base, step)
    # By query: a snapshot's numbers and exponents, then those of the states inside.
    size = 1 + lanes
    begins = wi[W_GROWN] + states * (1 + lanes + mins) * n
    for i in range(n):
        for c in range(states):
            column = run + R_COLUMNS + 3 * c
            for j in range(size):
                starts = j == 0 and tab[column] != 0
                m, e = (start_of(i % step, idle) if starts else 0.0), 0
                for p in range(tab[column + 1], tab[column + 2]):
                    there = base + step * tab[p] + j * side + i
                    m, e = add(m, e, rf[s, there], np.int64(ex[s, there]))
                wf[begins + 2 * (c * size + j)] = m
                wi[begins + 2 * (c * size + j) + 1] = e
        for q in range(tab[part + P_INSIDE]):
            state = base + step * tab[tab[run + R_COLUMNS + 3 * q + 1]] + i
            for j in range(size):
                lane = tab[maps + j - 1] if j > 0 else -1
                m, e = 0.0, 0
                for c in range(states):
                    there = begins + 2 * (c * size + j)
                    at = matrix + q * rows + c
                    xm, xe = mul(rf[s, at], np.int64(ex[s, at]), wf[there], wi[there + 1])
                    m, e = add(m, e, xm, xe)
                    if lane >= 0:
                        there = begins + 2 * c * size
                        at += (1 + lane) * wide
                        xm, xe = mul(rf[s, at], np.int64(ex[s, at]), wf[there], wi[there + 1])
                        m, e = add(m, e, xm, xe)
                rf[s, state + j * side] = m
                ex[s, state + j * side] = e
