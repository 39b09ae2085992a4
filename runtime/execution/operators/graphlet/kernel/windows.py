"""Closes windows when time passes their ends, and crosses panes by applying their operators."""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import brief, entry, inlined
from runtime.execution.wide_float import LARGE, add

from .bursts import flush
from .decision_counters import crossed, crossing
from .numbers import accumulate
from .parts import identity, settle_parts
from .record import (
    BIG,
    BURSTS,
    C_PANE,
    END,
    FLAGS,
    LAST,
    LOOK_ACROSS,
    MERGED_WINDOWS,
    MIN_AT,
    MINS,
    NEUTRAL,
    NO_TYPE,
    OUT_MINS,
    OUT_NUMBERS,
    OUT_SIZE,
    OWN_ROWS,
    P_SIZE,
    PANE_MODE,
    PANES,
    PARTS,
    RC_BLOCK,
    RC_COLUMNS,
    RC_FIRST,
    RC_LANES,
    RC_MINS,
    RC_OPEN,
    RC_QUERIES,
    RC_SIZE,
    RC_SLIDE,
    RC_STATES,
    RC_WINDOWS,
    RC_WITHIN,
    SLIDING,
    STATES_AT,
    T_LASTS,
    T_NUMBERS,
    T_PART,
    T_PARTS,
    T_ROW_CLASS,
    T_ROW_CLASSES,
    T_SINCE,
    TYPE,
    UNBORN,
    VECTORS,
    W_BEFORE,
    W_BEFORE_E,
    W_LONGEST,
    W_MERGED,
    W_MOST_RESULTS,
    W_PANE,
    W_POLICY,
    W_RESULTS,
    W_SETTLED,
    W_STRATEGY,
)
from .vectors import idle_window


@brief
def roll(h, s, time):
    """Leaves a row's pane: reports and clears the windows that ended at or before `time`."""
    ri, tab = h.ri, h.tab
    if ri[s, END] == UNBORN:
        birth(h, s)
        return
    first, last = row_classes(h)
    if PARTS:
        settle_parts(h, s, ri[s, FLAGS])
    cross_panes(h, s)
    end = ri[s, END]
    for f in range(first, last, RC_SIZE):
        within, slide = tab[f + RC_WITHIN], tab[f + RC_SLIDE]
        k = (end - 1 - within) // slide + 1
        newest = (end - 1) // slide
        while k <= newest and k * slide + within <= time:
            step = tab[f + RC_OPEN]
            base = tab[f + RC_WINDOWS] + k % step
            for i in range(tab[f + RC_QUERIES]):
                finish(h, s, f, i, k, base + step * i)
            clear(h, s, f, base)
            k += 1
    if SLIDING:
        settle(h, s)
    else:
        ri[s, FLAGS] &= ~BIG


@inlined
def row_classes(h):
    """The start and end of the row classes."""
    tab = h.tab
    return tab[T_ROW_CLASS], tab[T_ROW_CLASS] + tab[T_ROW_CLASSES] * RC_SIZE


@brief
def birth(h, s):
    ri, tab = h.ri, h.tab
    ri[s, TYPE] = NO_TYPE
    for j in range(MINS):
        ri[s, MIN_AT + j] = NEUTRAL
    if PARTS:
        for p in range(tab[T_PARTS]):
            identity(h, s, tab[T_PART] + p * P_SIZE)
    if MINS:
        first, last = row_classes(h)
        for f in range(first, last, RC_SIZE):
            for v in range(tab[f + RC_OPEN]):
                no_minima(h, s, f, tab[f + RC_WINDOWS] + v, tab[f + RC_OPEN])


@brief
def no_minima(h, s, f, base, step):
    ri, tab = h.ri, h.tab
    lanes, mins, side = tab[f + RC_LANES], tab[f + RC_MINS], tab[f + RC_QUERIES]
    for state in range(tab[f + RC_STATES]):
        at = base + step * (state * (1 + lanes + mins) + 1 + lanes) * side
        for w in range(at, at + step * mins * side, step):
            ri[s, w] = NEUTRAL


@brief
def clear(h, s, f, base):
    """Clears one window."""
    ri, rf, ex, tab = h.ri, h.rf, h.ex, h.tab
    step = tab[f + RC_OPEN]
    end = base + step * tab[f + RC_BLOCK]
    if SLIDING and step > 1:
        for w in range(base, end, step):
            rf[s, w] = 0.0
    else:
        for w in range(base, end):
            rf[s, w] = 0.0
    if ri[s, FLAGS] & BIG:
        for w in range(base, end, step):
            ex[s, w] = 0
    if MINS:
        no_minima(h, s, f, base, step)


@brief
def finish(h, s, f, i, k, base):
    """Reports a window of a query: the sum of its last states, if it has any trend."""
    ri, rf, ex, tab, oi, of = h.ri, h.rf, h.ex, h.tab, h.oi, h.of
    step, query = tab[f + RC_OPEN], tab[f + RC_FIRST] + i
    lasts = tab[T_LASTS] + 2 * query
    found = 0.0
    for p in range(tab[lasts], tab[lasts + 1]):
        found = max(found, rf[s, base + step * tab[p]])
    if found == 0.0 or k * tab[f + RC_SLIDE] < tab[tab[T_SINCE] + query]:
        return
    lanes, mins, side = tab[f + RC_LANES], tab[f + RC_MINS], step * tab[f + RC_QUERIES]
    out = row_for(h, query, k, s) * OUT_SIZE
    for p in range(tab[lasts], tab[lasts + 1]):
        at = base + step * tab[p]
        if rf[s, at] == 0.0:
            continue
        for j in range(1 + lanes):
            n = out + OUT_NUMBERS + 2 * j
            total = of[n] + rf[s, at + j * side]
            if ri[s, FLAGS] & BIG == 0 and oi[n + 1] == 0 and abs(total) < LARGE:
                of[n] = total
                continue
            m, e = add(of[n], oi[n + 1], rf[s, at + j * side], np.int64(ex[s, at + j * side]))
            of[n] = m
            oi[n + 1] = e
        for j in range(mins):
            n = out + OUT_MINS + j
            oi[n] = min(oi[n], ri[s, at + (1 + lanes + j) * side])


@brief
def row_for(h, query, k, s):
    """The result row for a query's window: a new one or, if the query has no groups, the row of
    the same window if it is among the last reported ones."""
    tab, wi, oi = h.tab, h.wi, h.oi
    merged = wi[W_MERGED] + query * MERGED_WINDOWS + k % MERGED_WINDOWS
    last = wi[merged]
    if last >= 0 and oi[last * OUT_SIZE + 1] == k:
        return last
    row = wi[W_RESULTS]
    wi[W_RESULTS] += 1
    if last != OWN_ROWS:
        wi[merged] = row
    out = row * OUT_SIZE
    oi[out] = tab[tab[T_NUMBERS] + query]
    oi[out + 1] = k
    oi[out + 2] = s
    for w in range(out + OUT_NUMBERS, out + OUT_MINS):
        oi[w] = 0
    for w in range(out + OUT_MINS, out + OUT_SIZE):
        oi[w] = NEUTRAL
    return row


@brief
def settle(h, s):
    """For the next pane: decides whether the row is still big, and whether to update its windows
    one by one or by one operator for the pane. The last pane predicts the amount of work."""
    ri, ex, tab, wi, wf = h.ri, h.ex, h.tab, h.wi, h.wf
    flags = ri[s, FLAGS] & ~PANE_MODE
    if flags & BIG:
        flags &= ~BIG
        for w in range(STATES_AT, ri.shape[1]):
            if ex[s, w] != 0:
                flags |= BIG
    strategy = wi[W_STRATEGY]
    most = wf[W_POLICY + C_PANE]
    wi[W_SETTLED] += 1
    looks = wi[W_SETTLED] & LOOK_ACROSS == 0 and most < np.inf
    if strategy == PANES or (strategy != VECTORS and (ri[s, BURSTS] > most or looks)):
        flags |= PANE_MODE
        first, last = row_classes(h)
        for f in range(first, last, RC_SIZE):
            if tab[f + RC_COLUMNS] > 0:
                basis(h, s, f)
    ri[s, FLAGS] = flags
    ri[s, BURSTS] = 0


@brief
def basis(h, s, f):
    """Column 0 begins with nothing, column p + 1 with one partial trend in state p."""
    rf, ex, tab = h.rf, h.ex, h.tab
    size, states, side = tab[f + RC_BLOCK], tab[f + RC_STATES], tab[f + RC_QUERIES]
    for w in range(tab[f + RC_COLUMNS], tab[f + RC_COLUMNS] + (states + 1) * size):
        rf[s, w] = 0.0
        ex[s, w] = 0
    step = states + 1
    for v in range(step):
        base = tab[f + RC_COLUMNS] + v
        if v > 0:
            one = base + step * (v - 1) * (size // states)
            for w in range(one, one + step * side, step):
                rf[s, w] = 1.0
        if MINS:
            no_minima(h, s, f, base, step)


@brief
def cross_panes(h, s):
    """Applies the pane's operator, if there is one, to every open window."""
    ri, tab = h.ri, h.tab
    if SLIDING and ri[s, FLAGS] & PANE_MODE:
        place, numbers = crossing(h), 0
        first, last = row_classes(h)
        for f in range(first, last, RC_SIZE):
            if tab[f + RC_COLUMNS] > 0:
                idle = idle_window(h, ri[s, END], f)
                states = tab[f + RC_STATES]
                numbers += tab[f + RC_OPEN] * tab[f + RC_QUERIES] * (states * (states + 1) // 2)
                for v in range(tab[f + RC_OPEN]):
                    if v != idle:
                        cross_pane(h, s, f, v)
        if place >= 0:
            crossed(h, place, numbers)


@brief
def cross_pane(h, s, f, v):
    """Applies the pane's operator to one window. Words of a window are as far apart as there are
    windows, those of a column as there are columns."""
    ri, rf, ex, tab, wi, wf = h.ri, h.rf, h.ex, h.tab, h.wi, h.wf
    size, lanes, mins, side = (
        tab[f + RC_BLOCK], tab[f + RC_LANES], tab[f + RC_MINS], tab[f + RC_QUERIES])  # fmt: skip
    base, apart = tab[f + RC_WINDOWS] + v, tab[f + RC_OPEN]
    columns, wide = tab[f + RC_COLUMNS], tab[f + RC_STATES] + 1
    step = (1 + lanes + mins) * side
    old, old_e = wi[W_BEFORE], wi[W_BEFORE_E]
    for w in range(size):
        here, there = base + apart * w, columns + wide * w
        wi[old + w] = ri[s, here]
        wi[old_e + w] = ex[s, here]
        ri[s, here] = ri[s, there]
        ex[s, here] = ex[s, there]
    for p in range(0, size, step):
        column = columns + p // step + 1
        for t in range(0, size, step):
            for i in range(side):
                m, e = wf[old + p + i], wi[old_e + p + i]
                there, here = column + wide * (t + i), base + apart * (t + i)
                fm, fe = rf[s, there], np.int64(ex[s, there])
                if m == 0.0 or fm == 0.0:
                    continue
                accumulate(h, s, here, fm, fe, m, e)
                for j in range(side, (1 + lanes) * side, side):
                    am, ae = wf[old + p + i + j], wi[old_e + p + i + j]
                    accumulate(h, s, here + apart * j, fm, fe, am, ae)
                    am, ae = rf[s, there + wide * j], np.int64(ex[s, there + wide * j])
                    accumulate(h, s, here + apart * j, am, ae, m, e)
                for j in range((1 + lanes) * side, step, side):
                    low = min(wi[old + p + i + j], ri[s, there + wide * j])
                    ri[s, here + apart * j] = min(ri[s, here + apart * j], low)


@entry
def sweep(first, time, used, h):
    """Closes the windows of every row that end at or before `time`. Rows without open windows
    become unused. Returns the row to continue from when the memory for results has to grow."""
    for row in range(first, used):
        if not close(h, np.uintp(row), time):
            return row
    return used


@entry
def sweep_counted(first, counts, used, h):
    """Like `sweep` for windows that count the events of their partitions."""
    for row in range(first, used):
        if not close(h, np.uintp(row), counts[row]):
            return row
    return used


@brief
def close(h, s, time):
    """Returns False if the memory for results has to grow first."""
    ri, wi = h.ri, h.wi
    pane = wi[W_PANE]
    if ri[s, END] == UNBORN or time < ri[s, END]:
        return True
    if (wi[W_RESULTS] + wi[W_MOST_RESULTS] + 1) * OUT_SIZE > len(h.oi):
        return False
    flush(h, s)
    roll(h, s, time)
    if not SLIDING or time - wi[W_LONGEST] >= ri[s, LAST] - pane:
        ri[s, END] = UNBORN
        ri[s, FLAGS] = 0
    else:
        ri[s, END] = (time // pane + 1) * pane
    return True


@entry
def settle_all(used, h):
    """Ends the burst and the pane of every row, so that only its windows have state."""
    ri = h.ri
    for row in range(used):
        s = np.uintp(row)
        if ri[s, END] == UNBORN:
            continue
        flush(h, s)
        if PARTS:
            settle_parts(h, s, ri[s, FLAGS])
        cross_panes(h, s)
        ri[s, FLAGS] &= ~PANE_MODE
