"""The kernel of a share group: events in arrival order in, totals of closed windows out.

Every partition has a row of 64-bit words, read as integers (`ri`) or as doubles (`rf`):

    head | what the running burst has come to | numbers of every query, vector and state

While a **burst** runs (events of one type, with no other relevant type between them), an event
only adds to the burst's sums; when it ends, its closed-form operator is applied once to every
query's **snapshot** (`flush`). A *vector* holds the numbers of all states of a query, for one
open window or, in pane mode, for one basis vector of the pane's operator. Queries of one *form*
(the same pattern but for the names of types, the same lanes and windows) lie side by side: a word
for each of them, then the next lane, the next state, the next vector. So one operator is applied
to all of them in loops over neighbouring words.

A number is a mantissa in the row; its exponent lives at the same place of `ex`, which is looked
at only in rows that are marked BIG: most never are. MIN and MAX are whole numbers that keep the
order (MAX complemented), so both are a `min`.

The upper-case names marked `shape` are constants of a workload's shape: `specialise.py` writes
a copy of this file with their values, so that loops unroll and unused parts fall away. All else
that is known of a workload comes as one array `tab`, laid out by `layout.py`; `wi` and `wf` are
two views of one array for settings, counters and scratch, `pi` and `pf` of the events that wait,
`oi` and `of` of the results. Few arguments: a call in the inner loop passes them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from runtime.compiled.extended import LARGE, SMALL, add, mul, normal, power
from runtime.compiled.prefetch import AHEAD, prefetch

ATTRS = 2  # shape: summed attributes of a type, at most
MINS = 2  # shape: minima and maxima of a type or a query, at most
LANES = 4  # shape: sums that a query carries besides its count, at most
BUFFERS = True  # shape: whether events may wait for the end of their burst
SLIDING = True  # shape: whether some windows overlap
STRAIGHT = False  # shape: whether `apply_straight` is there
UNROLLED = False  # shape: whether loops over attributes are as long as the longest

# No array is made in here, so none has to be counted: that alone halves the time.
_njit: Any = njit
compiled = _njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
inlined = _njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)

# Words of a row's head, those that every event touches first.
END, TYPE, COUNT, ACC = 0, 1, 2, 3
MIN_AT = ACC + 2 * ATTRS
FLAGS = MIN_AT + MINS
WAITING, BLOCK = FLAGS + BUFFERS, FLAGS + 2 * BUFFERS
EVENTS, LAST = BLOCK + SLIDING, BLOCK + 2 * SLIDING
STATES_AT = LAST + 1
BIG, PANE_MODE, WAS_SHARED, WAS_SPLIT = 1, 2, 4, 8

# `tab`: where its tables begin, then the tables.
(T_TYPES, T_FORMS, T_FULL, T_ATTRS, T_MINS, T_BITS, T_ENTRIES, T_FORM, T_PREDS, T_LASTS, T_SINCE,
 T_NUMBERS, T_WIDE) = range(13)  # fmt: skip
# An entry: a state of queries side by side (from the first on, so many) that events of a type
# enter. Sorted by type, then by the bit of the condition. The wide entries of a type are as if all
# its conditions were one: they are for bursts on which all queries agree.
E_STATE, E_LOOP, E_FIRST, E_BIT, E_FORM, E_PREDS, E_PREDS_END, E_PLACE, E_QUERIES, E_LANES = (
    range(10)
)  # fmt: skip
E_MINS = E_LANES + LANES
E_SIZE = E_MINS + MINS
(F_WINDOWS, F_COLUMNS, F_OPEN, F_STATES, F_LANES, F_MINS, F_WITHIN, F_SLIDE, F_LASTS, F_LASTS_END,
 F_BLOCK, F_EVEN, F_QUERIES, F_FIRST) = range(14)  # fmt: skip
F_SIZE = 14

# `wi` and `wf`: settings and counters, scratch, counters of decisions by type, the log.
(W_RESULTS, W_FREE, W_LEFT, W_PANE, W_SHARING, W_ROOM, W_STRATEGY, W_LONGEST, W_SAMPLE, W_LOGGED,
 W_DECISIONS, W_LOG, W_LOG_SIZE, W_BEFORE, W_BEFORE_E, W_GROWN) = range(16)  # fmt: skip
W_POLICY, W_PARTS = 16, 32
W_LEAST = W_PARTS + 2 + 2 * ATTRS
W_PICKS = W_LEAST + MINS
W_CLASS = W_PICKS + 64
W_END = W_CLASS + 64
D_SIZE, D_EVENTS, D_SNAPSHOTS, D_ALL, D_BENEFIT = 8, 4, 5, 6, 7
L_SIZE = 8

# What a lane takes from a burst: nothing, its events, or (2 + 2a, 3 + 2a) the sum and the number
# of the values of an attribute.
NOTHING, EVENTS_OF = 0, 1
NEVER, ALWAYS, DYNAMIC = 0, 1, 2
VECTORS, PANES = 1, 2
SHARED, SPLIT, MERGED, CONTINUED = 0, 1, 2, 3
C_EVENT, C_PICK, C_OPERATOR, C_APPLY, C_SCAN, C_PANE, C_COMPARE = range(7)

NO_TYPE = -1
UNBORN = -(2**63)  # the END of a row without open windows
NEUTRAL = 2**63 - 1
LIMIT = LARGE * 2.0**-12  # plain doubles stay below, so that sums of some of them do too
EXACT_POWER = 400  # the largest burst whose 2**c is multiplied without an exponent
POWERS = 2.0 ** np.arange(EXACT_POWER + 1)
BITS_SIZE = 66  # where the entries of each bit begin, where the last ones end, all their queries
BURST = 64  # the most events that wait: which of them were picked are the bits of a word
WAIT_SIZE = 1 + ATTRS + MINS
OUT_NUMBERS = 3  # query, window and slot come first
OUT_MINS = OUT_NUMBERS + 2 * (1 + LANES)
OUT_SIZE = OUT_MINS + MINS


@compiled
def run(first, times, local, types, slots, values, keys, masks, group, follower,
        ri, rf, ex, tab, wi, wf, pi, pf, oi, of):  # fmt: skip
    """Takes events from row `first` on. Gives the row to go on from when the room for results or
    waiting events has to grow first."""
    full = tab[T_FULL]
    pane, sharing = wi[W_PANE], wi[W_SHARING]
    results = len(oi) // OUT_SIZE - wi[W_ROOM]
    for i in range(first, len(times)):
        if i + AHEAD < len(times):
            ahead = np.int64(slots[i + AHEAD])
            prefetch(ri, ahead, 0)
            prefetch(ri, ahead, 8)
        t = local[types[i]]
        if group[i] < 0 or (t < 0 and group[i] == 0):
            continue
        s = np.uintp(slots[i])
        mask = masks[i] if BUFFERS else np.int64(1)
        if mask == 0 and group[i] == 0:
            continue
        differs = BUFFERS and t >= 0 and (mask != tab[full + t] or sharing == NEVER)
        over = times[i] >= ri[s, END]
        if (
            ri[s, TYPE] != t
            or over
            or group[i] > 0
            or (differs and (sharing == ALWAYS or ri[s, WAITING] == BURST))
        ):
            # The one place where bursts end, so that all of it is compiled into this loop.
            flush(s, ri, rf, ex, tab, wi, wf, pi, pf)
            if over:
                if wi[W_RESULTS] > results:
                    return i
                roll(s, times[i], ri, rf, ex, tab, wi, wf, oi, of)
                ri[s, END] = (times[i] // pane + 1) * pane
            if group[i] > 0:
                together(s, i, local, types, values, keys, masks, follower, ri, rf, ex, tab, wi, wf)
                continue
            ri[s, TYPE] = t
        if SLIDING:
            ri[s, EVENTS] += 1
            ri[s, LAST] = ri[s, END]
        if differs:
            if sharing == ALWAYS:
                snapshot(s, i, t, mask, values, keys, ri, rf, ex, tab, wi, wf)
            else:
                if wi[W_LEFT] == 0 and ri[s, WAITING] == 0:
                    return i
                wait(s, i, t, mask, values, keys, ri, tab, wi, pi, pf)
            continue
        ri[s, COUNT] += 1
        first_attr, number = attributes(t, tab)
        for j in range(ATTRS if UNROLLED else number):
            a = tab[first_attr + j]
            if not UNROLLED or a >= 0:
                x = values[a, i]
                if x == x:
                    rf[s, ACC + 2 * j] += x
                else:
                    rf[s, ACC + 2 * j + 1] += 1.0
        first_min, number = extremes(t, tab)
        for j in range(number):
            key = keys[tab[first_min + j], i]
            if key < ri[s, MIN_AT + j]:
                ri[s, MIN_AT + j] = key
    return len(times)


@inlined
def attributes(t, tab):
    """Where the summed attributes of a type are listed, and how many there are."""
    at = tab[T_ATTRS] + t * (1 + ATTRS)
    return at + 1, tab[at] if ATTRS else 0


@inlined
def extremes(t, tab):
    """Where the minima and maxima of a type are listed, and how many there are."""
    at = tab[T_MINS] + t * (1 + MINS)
    return at + 1, tab[at] if MINS else 0


# ---- bursts --------------------------------------------------------------------------------


@inlined
def flush(s, ri, rf, ex, tab, wi, wf, pi, pf):
    """Ends the burst of a row: its operator is applied to the snapshot of every query."""
    t = ri[s, TYPE]
    if t < 0:
        return
    count = ri[s, COUNT]
    if BUFFERS and ri[s, WAITING] > 0:
        flush_waiting(s, t, ri, rf, ex, tab, wi, wf, pi, pf)
    elif count > 0:
        _, _, queries = entries(t, tab)
        if queries > 1:
            saved = (queries - 1) * count * wf[W_POLICY + C_EVENT]
            decided(s, t, True, count, 0, 1, queries, saved, ri, wi, wf)
        if not STRAIGHT or ri[s, FLAGS] & BIG or count > EXACT_POWER:
            operator_of_agreed(s, t, count, ri, rf, tab, wi, wf)
            for e in range(tab[tab[T_WIDE] + 2 * t], tab[tab[T_WIDE] + 2 * t + 1], E_SIZE):
                apply(s, e, tab[e + E_PLACE], tab[e + E_QUERIES], count, ri, rf, ex, tab, wi, wf)
        else:
            apply_straight(s, t, count, ri, rf, ex, tab, wi, wf)
    ri[s, COUNT] = 0
    ri[s, TYPE] = NO_TYPE
    _, number = attributes(t, tab)
    for j in range(2 * ATTRS if UNROLLED else 2 * number):
        rf[s, ACC + j] = 0.0
    _, number = extremes(t, tab)
    for j in range(MINS if UNROLLED else number):
        ri[s, MIN_AT + j] = NEUTRAL


@inlined
def entries(t, tab):
    """Where the entries of a type begin and end, and how many queries they are for."""
    at = tab[T_BITS] + t * BITS_SIZE
    return tab[at], tab[at + 64], tab[at + 65]


@inlined
def operator_of_agreed(s, t, count, ri, rf, tab, wi, wf):
    """What the events on which all queries agree have come to, as parts for lanes."""
    wf[W_PARTS + EVENTS_OF] = count
    _, number = attributes(t, tab)
    for j in range(number):
        wf[W_PARTS + 2 + 2 * j] = rf[s, ACC + 2 * j]
        wf[W_PARTS + 3 + 2 * j] = count - rf[s, ACC + 2 * j + 1]
    _, number = extremes(t, tab)
    for j in range(number):
        wi[W_LEAST + j] = ri[s, MIN_AT + j]


@compiled
def decided(s, t, shared, events, snapshots, classes, queries, benefit, ri, wi, wf):
    """Counts a decision, and keeps an example of it now and then."""
    flags = ri[s, FLAGS]
    if shared:
        kind = CONTINUED if flags & WAS_SHARED else (MERGED if flags & WAS_SPLIT else SHARED)
        ri[s, FLAGS] = (flags | WAS_SHARED) & ~WAS_SPLIT
    else:
        kind = SPLIT
        ri[s, FLAGS] = (flags | WAS_SPLIT) & ~WAS_SHARED
    at = wi[W_DECISIONS] + D_SIZE * t
    wi[at + kind] += 1
    wi[at + D_EVENTS] += events
    wi[at + D_SNAPSHOTS] += snapshots
    wi[at + D_ALL] += 1
    wf[at + D_BENEFIT] += benefit
    n = wi[at + D_ALL]
    if n & (n - 1) == 0 or n % wi[W_SAMPLE] == 0:  # more and more rarely, then evenly
        place = wi[W_LOG] + L_SIZE * (wi[W_LOGGED] % wi[W_LOG_SIZE])
        wi[W_LOGGED] += 1
        wi[place] = t
        wi[place + 1] = kind
        wi[place + 2] = events
        wi[place + 3] = snapshots
        wi[place + 4] = classes
        wi[place + 5] = queries
        wf[place + 6] = benefit
        wi[place + 7] = n


@inlined
def vectors(s, f, ri, tab):
    """Where the vectors of a form begin, how many there are, and the one that is idle (-1)."""
    if SLIDING:
        if ri[s, FLAGS] & PANE_MODE and tab[f + F_COLUMNS] > 0:
            return tab[f + F_COLUMNS], tab[f + F_STATES] + 1, -2
        return tab[f + F_WINDOWS], tab[f + F_OPEN], idle_window(ri[s, END], f, tab)
    return tab[f + F_WINDOWS], 1, -1


@inlined
def start_of(v, idle):
    """Whether trends may start in a vector: not in the idle one, of columns (-2) only in the
    first."""
    if SLIDING:
        return 0.0 if v == idle or (idle == -2 and v > 0) else 1.0
    return 1.0


@compiled
def idle_window(end, f, tab):
    """The place of a window that has ended before this pane and has no successor yet, or -1;
    there is one at times where the slide does not divide the window."""
    if tab[f + F_EVEN]:
        return -1
    newest = (end - 1) // tab[f + F_SLIDE]
    oldest = (end - 1 - tab[f + F_WITHIN]) // tab[f + F_SLIDE] + 1
    n = tab[f + F_OPEN]
    return (newest + 1) % n if newest - oldest + 1 < n else -1


@compiled
def apply(s, e, place, queries, count, ri, rf, ex, tab, wi, wf):
    """Applies the operator in scratch to every vector of some of an entry's queries.

    With `u` what the burst's first event would extend, the burst makes g*u new partial trends:
    g is 2**c - 1 where the state loops, c where it does not."""
    f = tab[e + E_FORM]
    at, number, idle = vectors(s, f, ri, tab)
    for v in range(number):
        base = at + v * tab[f + F_BLOCK] + place
        start = start_of(v, idle)
        if ri[s, FLAGS] & BIG == 0 and count <= EXACT_POWER:
            if queries == 1:
                if plain(s, e, f, count, base, start, ri, rf, tab, wi, wf):
                    continue
            elif wide(s, e, f, queries, count, base, start, ri, rf, tab, wi, wf):
                continue
        ri[s, FLAGS] |= BIG
        far = count > EXACT_POWER or not moderate(e, f, count, tab, wf)
        if far:
            for i in range(queries):
                extended(s, e, f, count, base + i, start, ri, rf, ex, tab, wi, wf)
        elif queries == 1:
            aligned_one(s, e, f, count, base, start, ri, rf, ex, tab, wi, wf)
        else:
            aligned(s, e, f, queries, count, base, start, ri, rf, ex, tab, wi, wf)


@inlined
def plain(s, e, f, count, base, start, ri, rf, tab, wi, wf):
    """One vector of one query in doubles; False, and nothing done, where a number would get too
    large."""
    lanes, side = tab[f + F_LANES], tab[f + F_QUERIES]
    at = base + tab[e + E_STATE]
    loop = tab[e + E_LOOP] != 0
    n = rf[s, at]
    u = n if loop else 0.0
    if tab[e + E_FIRST] != 0:
        u += start
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    for p in range(begin, end):
        u += rf[s, base + tab[p]]
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
        for p in range(begin, end):
            w += rf[s, base + tab[p] + (1 + j) * side]
        a += g * w + scale * wf[W_PARTS + tab[e + E_LANES + j]] * u
        fits = fits and abs(a) < LIMIT
        wf[grown + j] = a
    if not fits:
        return False
    rf[s, at] = total
    for j in range(lanes):
        rf[s, at + (1 + j) * side] = wf[grown + j]
    if MINS:
        minima(s, e, f, base, ri, tab, wi)
    return True


@compiled
def wide(s, e, f, queries, count, base, start, ri, rf, tab, wi, wf):
    """As `plain` for queries side by side. All is worked out in scratch before any of it is kept.
    Places are unsigned, which spares the question whether they count from the end and lets these
    loops run over several words at once."""
    lanes = np.uintp(tab[f + F_LANES])
    side, n = np.uintp(tab[f + F_QUERIES]), np.uintp(queries)
    first = np.uintp(base)
    at = first + np.uintp(tab[e + E_STATE])
    loop = tab[e + E_LOOP] != 0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    us = np.uintp(wi[W_GROWN])
    fresh = start if tab[e + E_FIRST] != 0 else 0.0
    own = 1.0 if loop else 0.0
    for i in range(n):
        wf[us + i] = own * rf[s, at + i] + fresh
    for p in range(begin, end):
        before = first + np.uintp(tab[p])
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
        for p in range(begin, end):
            before = first + np.uintp(tab[p]) + (j + np.uintp(1)) * side
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
        for i in range(queries):
            if wf[us + np.uintp(i)] != 0.0:
                minima(s, e, f, base + i, ri, tab, wi)
    return True


@compiled
def minima(s, e, f, base, ri, tab, wi):
    """New trends hold what they extend and at least one event of the burst."""
    lanes, side = tab[f + F_LANES], tab[f + F_QUERIES]
    for j in range(tab[f + F_MINS]):
        lane = (1 + lanes + j) * side
        at = base + tab[e + E_STATE] + lane
        low = ri[s, at]
        for p in range(tab[e + E_PREDS], tab[e + E_PREDS_END]):
            low = min(low, ri[s, base + tab[p] + lane])
        part = tab[e + E_MINS + j]
        if part >= 0:
            low = min(low, wi[W_LEAST + part])
        ri[s, at] = low


@compiled
def moderate(e, f, count, tab, wf):
    """Whether the operator times any mantissa is still a double."""
    scale = POWERS[count - 1] if tab[e + E_LOOP] != 0 else 1.0
    for j in range(tab[f + F_LANES]):
        if not abs(scale * wf[W_PARTS + tab[e + E_LANES + j]]) < LIMIT:
            return False
    return True


@inlined
def align(steps):
    """By what a mantissa is multiplied that lies so many exponents below another."""
    return 1.0 if steps == 0 else (SMALL if steps == 1 else 0.0)


@inlined
def keep(s, at, m, exponent, rf, ex):
    """Keeps a number, which is at most one step from its normal form."""
    if abs(m) >= LARGE:
        m *= SMALL
        exponent += 1
    elif exponent > 0 and abs(m) < 1.0:
        m *= LARGE
        exponent = exponent - 1 if m != 0.0 else 0
    rf[s, at] = m
    ex[s, at] = exponent


@compiled
def aligned_one(s, e, f, count, base, start, ri, rf, ex, tab, wi, wf):
    """As `plain`, with exponents: terms are brought to the largest exponent among them and added
    as doubles."""
    lanes, side = tab[f + F_LANES], tab[f + F_QUERIES]
    at = base + tab[e + E_STATE]
    loop = tab[e + E_LOOP] != 0
    own = 1.0 if loop else 0.0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    scale, g = 1.0, np.float64(count)
    if loop:
        scale = POWERS[count - 1]
        g = POWERS[count] - 1.0
    top = np.int64(ex[s, at])
    for p in range(begin, end):
        top = max(top, ex[s, base + tab[p]])
    n = rf[s, at] * align(top - ex[s, at])
    u = own * n
    if tab[e + E_FIRST] != 0:
        u += start * align(top)
    for p in range(begin, end):
        u += rf[s, base + tab[p]] * align(top - ex[s, base + tab[p]])
    if u == 0.0:
        return
    keep(s, at, n + g * u, top, rf, ex)
    for j in range(lanes):
        lane = (1 + j) * side
        most = max(top, ex[s, at + lane])
        for p in range(begin, end):
            most = max(most, ex[s, base + tab[p] + lane])
        a = rf[s, at + lane] * align(most - ex[s, at + lane])
        w = own * a
        for p in range(begin, end):
            there = base + tab[p] + lane
            w += rf[s, there] * align(most - ex[s, there])
        part = scale * wf[W_PARTS + tab[e + E_LANES + j]]
        keep(s, at + lane, a + g * w + part * (u * align(most - top)), most, rf, ex)
    if MINS:
        minima(s, e, f, base, ri, tab, wi)


@compiled
def aligned(s, e, f, queries, count, base, start, ri, rf, ex, tab, wi, wf):
    """As `wide`, with exponents: terms are brought to the largest exponent among them and added
    as doubles."""
    lanes = np.uintp(tab[f + F_LANES])
    side, n = np.uintp(tab[f + F_QUERIES]), np.uintp(queries)
    first = np.uintp(base)
    at = first + np.uintp(tab[e + E_STATE])
    loop = tab[e + E_LOOP] != 0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    fresh = start if tab[e + E_FIRST] != 0 else 0.0
    own = 1.0 if loop else 0.0
    scale, g = 1.0, np.float64(count)
    if loop:
        scale = POWERS[count - 1]
        g = POWERS[count] - 1.0
    us = np.uintp(wi[W_GROWN])
    tops, mosts, ns = us + n, us + np.uintp(2) * n, us + np.uintp(3) * n
    largest(s, at, first, np.uintp(0), begin, end, n, tops, ex, tab, wi)
    for i in range(n):
        wf[ns + i] = rf[s, at + i] * align(wi[tops + i] - ex[s, at + i])
        wf[us + i] = own * wf[ns + i] + fresh * align(wi[tops + i])
    for p in range(begin, end):
        before = first + np.uintp(tab[p])
        for i in range(n):
            wf[us + i] += rf[s, before + i] * align(wi[tops + i] - ex[s, before + i])
    entering = 0
    for i in range(n):
        entering += wf[us + i] != 0.0
    if entering == 0:
        return
    for i in range(n):
        keep(s, at + i, wf[ns + i] + g * wf[us + i], wi[tops + i], rf, ex)
    for j in range(lanes):
        offset = (j + np.uintp(1)) * side
        lane = at + offset
        part = scale * wf[W_PARTS + tab[e + E_LANES + j]]
        largest(s, lane, first, offset, begin, end, n, mosts, ex, tab, wi)
        for i in range(n):
            wi[mosts + i] = max(wi[mosts + i], wi[tops + i])
            a = rf[s, lane + i] * align(wi[mosts + i] - ex[s, lane + i])
            more = part * (wf[us + i] * align(wi[mosts + i] - wi[tops + i]))
            wf[ns + i] = a + own * g * a + more
        for p in range(begin, end):
            before = first + np.uintp(tab[p]) + offset
            for i in range(n):
                wf[ns + i] += g * (rf[s, before + i] * align(wi[mosts + i] - ex[s, before + i]))
        for i in range(n):
            keep(s, lane + i, wf[ns + i], wi[mosts + i], rf, ex)
    if MINS:
        for i in range(queries):
            if wf[us + np.uintp(i)] != 0.0:
                minima(s, e, f, base + i, ri, tab, wi)


@inlined
def largest(s, at, first, offset, begin, end, n, to, ex, tab, wi):
    """For each query the largest exponent in a lane, of the state and those before it."""
    for i in range(n):
        wi[to + i] = ex[s, at + i]
    for p in range(begin, end):
        before = first + np.uintp(tab[p]) + offset
        for i in range(n):
            wi[to + i] = max(wi[to + i], ex[s, before + i])


@compiled
def extended(s, e, f, count, base, start, ri, rf, ex, tab, wi, wf):
    """One vector of one query with exponents."""
    lanes, side = tab[f + F_LANES], tab[f + F_QUERIES]
    at = base + tab[e + E_STATE]
    loop = tab[e + E_LOOP] != 0
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    um, ue = 0.0, 0
    if loop:
        um, ue = rf[s, at], ex[s, at]
    if tab[e + E_FIRST] != 0:
        um, ue = add(um, ue, start, 0)
    for p in range(begin, end):
        um, ue = add(um, ue, rf[s, base + tab[p]], ex[s, base + tab[p]])
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
        for p in range(begin, end):
            wm, we = add(wm, we, rf[s, base + tab[p] + lane], ex[s, base + tab[p] + lane])
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
        minima(s, e, f, base, ri, tab, wi)


# straight-line code from here; see `straight.py`
@inlined
def apply_straight(s, t, count, ri, rf, ex, tab, wi, wf):
    """Applies the operator of the agreed events to all entries of a type, without tables."""


# to here
@compiled
def too_large(s, t, n, count, base, start, ri, rf, ex, tab, wi, wf):
    """What straight-line code leaves to exponents."""
    operator_of_agreed(s, t, count, ri, rf, tab, wi, wf)
    ri[s, FLAGS] |= BIG
    e = tab[T_ENTRIES] + n * E_SIZE
    extended(s, e, tab[e + E_FORM], count, base, start, ri, rf, ex, tab, wi, wf)


# ---- bursts on which queries differ --------------------------------------------------------


@compiled
def wait(s, i, t, mask, values, keys, ri, tab, wi, pi, pf):
    """Keeps an event on which queries differ until its burst is complete."""
    n = ri[s, WAITING]
    if n == 0:
        ri[s, BLOCK] = wi[W_FREE]
        wi[W_FREE] = pi[wi[W_FREE]]
        wi[W_LEFT] -= 1
    at = ri[s, BLOCK] + n * WAIT_SIZE
    pi[at] = mask
    first, number = attributes(t, tab)
    for j in range(number):
        pf[at + 1 + j] = values[tab[first + j], i]
    first, number = extremes(t, tab)
    for j in range(number):
        pi[at + 1 + ATTRS + j] = keys[tab[first + j], i]
    ri[s, WAITING] = n + 1


@compiled
def snapshot(s, i, t, mask, values, keys, ri, rf, ex, tab, wi, wf):
    """`always`: where queries differ on an event, its count becomes a snapshot with a value for
    each query, for which the shared operator has just been evaluated."""
    wf[W_PARTS + EVENTS_OF] = 1.0
    first, number = attributes(t, tab)
    for j in range(number):
        x = values[tab[first + j], i]
        wf[W_PARTS + 2 + 2 * j] = x if x == x else 0.0
        wf[W_PARTS + 3 + 2 * j] = 1.0 if x == x else 0.0
    first, number = extremes(t, tab)
    for j in range(number):
        wi[W_LEAST + j] = keys[tab[first + j], i]
    begin, end, queries = entries(t, tab)
    if queries > 1:
        decided(s, t, True, 1, 1, 2, queries, 0.0, ri, wi, wf)
    for e in range(begin, end, E_SIZE):
        if mask >> tab[e + E_BIT] & 1:
            apply(s, e, tab[e + E_PLACE], tab[e + E_QUERIES], 1, ri, rf, ex, tab, wi, wf)


@compiled
def flush_waiting(s, t, ri, rf, ex, tab, wi, wf, pi, pf):
    """Ends a burst on which queries differ: shared by classes, or every query by itself."""
    n, block, agreed = ri[s, WAITING], ri[s, BLOCK], ri[s, COUNT]
    begin, end, queries = entries(t, tab)
    shared, benefit = False, 0.0
    if wi[W_SHARING] == DYNAMIC:
        picked = 0
        for i in range(n):
            picked += bits(pi[block + i * WAIT_SIZE])
        conditions = bits(tab[tab[T_FULL] + t])
        benefit = benefit_of_classes(n, picked, queries, conditions, wf)
        shared = benefit > 0.0
    if queries > 1:
        decided(s, t, shared, n + agreed, n, 0, queries, benefit, ri, wi, wf)
    if shared:
        by_classes(s, t, n, block, agreed, ri, rf, ex, tab, wi, wf, pi, pf)
    else:
        for e in range(begin, end, E_SIZE):
            for i in range(tab[e + E_QUERIES]):
                place = tab[e + E_PLACE] + i
                alone(s, t, e, place, n, block, agreed, ri, rf, ex, tab, wi, wf, pi, pf)
    ri[s, WAITING] = 0
    pi[block] = wi[W_FREE]
    wi[W_FREE] = block
    wi[W_LEFT] += 1


@inlined
def benefit_of_classes(n, picked, queries, conditions, wf):
    """Predicted nanoseconds saved by sharing. A query alone looks at every event that waits and
    adds up those that it picked; shared, each pick is noted once for a condition, conditions are
    compared with each other, and each class of equal picks makes one operator. In both cases the
    operator is applied to every query."""
    alone = queries * (n * wf[W_POLICY + C_SCAN] + picked / conditions * wf[W_POLICY + C_EVENT])
    classes = min(conditions, n + 1)
    shared = (
        picked * wf[W_POLICY + C_PICK]
        + conditions * conditions * wf[W_POLICY + C_COMPARE]
        + classes * (wf[W_POLICY + C_OPERATOR] + picked / conditions * wf[W_POLICY + C_EVENT])
    )
    return alone - shared


@compiled
def by_classes(s, t, n, block, agreed, ri, rf, ex, tab, wi, wf, pi, pf):
    """One operator for each class of conditions that picked the same events."""
    begins = tab[T_BITS] + t * BITS_SIZE
    conditions = bits(tab[tab[T_FULL] + t])
    for d in range(conditions):
        wi[W_PICKS + d] = 0
    for i in range(n):
        mask = pi[block + i * WAIT_SIZE]
        while mask != 0:
            wi[W_PICKS + lowest(mask)] |= np.int64(1) << i
            mask &= mask - 1
    for d in range(conditions):
        picks = wi[W_PICKS + d]
        same = 0
        while wi[W_PICKS + same] != picks:
            same += 1
        wi[W_CLASS + d] = same
    for d in range(conditions):
        if wi[W_CLASS + d] != d:
            continue
        operator_of_agreed(s, t, agreed, ri, rf, tab, wi, wf)
        count = agreed + gather(t, wi[W_PICKS + d], block, tab, wi, wf, pi, pf)
        if count == 0:
            continue
        for other in range(d, conditions):
            if wi[W_CLASS + other] == d:
                for e in range(tab[begins + other], tab[begins + other + 1], E_SIZE):
                    place, queries = tab[e + E_PLACE], tab[e + E_QUERIES]
                    apply(s, e, place, queries, count, ri, rf, ex, tab, wi, wf)


@compiled
def alone(s, t, e, place, n, block, agreed, ri, rf, ex, tab, wi, wf, pi, pf):
    """A query by itself scans the burst for what it picked."""
    bit = tab[e + E_BIT]
    picks = np.int64(0)
    for i in range(n):
        picks |= (pi[block + i * WAIT_SIZE] >> bit & 1) << i
    operator_of_agreed(s, t, agreed, ri, rf, tab, wi, wf)
    count = agreed + gather(t, picks, block, tab, wi, wf, pi, pf)
    if count > 0:
        apply(s, e, place, 1, count, ri, rf, ex, tab, wi, wf)


@compiled
def gather(t, picks, block, tab, wi, wf, pi, pf):
    """Adds the picked events that wait to the operator; gives their number."""
    count = 0
    _, sums = attributes(t, tab)
    _, mins = extremes(t, tab)
    while picks != 0:
        at = block + lowest(picks) * WAIT_SIZE
        picks &= picks - 1
        count += 1
        for j in range(sums):
            x = pf[at + 1 + j]
            if x == x:
                wf[W_PARTS + 2 + 2 * j] += x
                wf[W_PARTS + 3 + 2 * j] += 1.0
        for j in range(mins):
            wi[W_LEAST + j] = min(wi[W_LEAST + j], pi[at + 1 + ATTRS + j])
    wf[W_PARTS + EVENTS_OF] += count
    return count


@inlined
def lowest(word):
    """The place of the lowest bit that is set."""
    return bits((word & -word) - 1)


@inlined
def bits(word):
    """How many bits are set."""
    x = np.uint64(word)
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


# ---- events of equal time in one partition -------------------------------------------------


@compiled
def together(s, first, local, types, values, keys, masks, follower, ri, rf, ex, tab, wi, wf):
    """A group of equal time: all of it reads the numbers from before it."""
    before, before_e = wi[W_BEFORE], wi[W_BEFORE_E]
    for w in range(STATES_AT, ri.shape[1]):
        wi[before + w] = ri[s, w]
        wi[before_e + w] = ex[s, w]
    i = first
    while i >= 0:
        t = local[types[i]]
        if t >= 0 and not seen_before(t, first, i, local, types, follower):
            begin, end, _ = entries(t, tab)
            for e in range(begin, end, E_SIZE):
                operator_of_group(e, t, i, local, types, values, keys, masks, follower, tab, wi, wf)
                if wf[W_PARTS + EVENTS_OF] > 0.0:
                    for place in range(tab[e + E_QUERIES]):
                        step_group(s, e, tab[e + E_PLACE] + place, ri, rf, ex, tab, wi, wf)
        i = follower[i]
    if SLIDING:
        ri[s, EVENTS] += 1
        ri[s, LAST] = ri[s, END]


@compiled
def seen_before(t, first, i, local, types, follower):
    while first != i:
        if local[types[first]] == t:
            return True
        first = follower[first]
    return False


@compiled
def operator_of_group(e, t, i, local, types, values, keys, masks, follower, tab, wi, wf):
    """What the group's events of a type, as far as an entry's condition picked them, add up to."""
    for j in range(2 + 2 * ATTRS):
        wf[W_PARTS + j] = 0.0
    for j in range(MINS):
        wi[W_LEAST + j] = NEUTRAL
    while i >= 0:
        if local[types[i]] == t and (not BUFFERS or masks[i] >> tab[e + E_BIT] & 1):
            wf[W_PARTS + EVENTS_OF] += 1.0
            first, number = attributes(t, tab)
            for j in range(number):
                x = values[tab[first + j], i]
                if x == x:
                    wf[W_PARTS + 2 + 2 * j] += x
                    wf[W_PARTS + 3 + 2 * j] += 1.0
            first, number = extremes(t, tab)
            for j in range(number):
                wi[W_LEAST + j] = min(wi[W_LEAST + j], keys[tab[first + j], i])
        i = follower[i]


@compiled
def step_group(s, e, place, ri, rf, ex, tab, wi, wf):
    """N += m*u and A += m*v + s*u, with u and v from before the group."""
    f = tab[e + E_FORM]
    lanes, side = tab[f + F_LANES], tab[f + F_QUERIES]
    at, number, idle = vectors(s, f, ri, tab)
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    loop = tab[e + E_LOOP] != 0
    old, old_e = wi[W_BEFORE], wi[W_BEFORE_E]
    for v in range(number):
        base = at + v * tab[f + F_BLOCK] + place
        here = base + tab[e + E_STATE]
        um, ue = 0.0, 0
        if loop:
            um, ue = wf[old + here], wi[old_e + here]
        if tab[e + E_FIRST] != 0:
            um, ue = add(um, ue, start_of(v, idle), 0)
        for p in range(begin, end):
            um, ue = add(um, ue, wf[old + base + tab[p]], wi[old_e + base + tab[p]])
        if um == 0.0:
            continue
        grow(s, here, wf[W_PARTS + EVENTS_OF], um, ue, ri, rf, ex)
        for j in range(lanes):
            lane = (1 + j) * side
            wm, we = 0.0, 0
            if loop:
                wm, we = wf[old + here + lane], wi[old_e + here + lane]
            for p in range(begin, end):
                there = base + tab[p] + lane
                wm, we = add(wm, we, wf[old + there], wi[old_e + there])
            grow(s, here + lane, wf[W_PARTS + EVENTS_OF], wm, we, ri, rf, ex)
            grow(s, here + lane, wf[W_PARTS + tab[e + E_LANES + j]], um, ue, ri, rf, ex)
        if MINS:
            for j in range(tab[f + F_MINS]):
                lane = (1 + lanes + j) * side
                part = tab[e + E_MINS + j]
                low = wi[W_LEAST + part] if part >= 0 else NEUTRAL
                if loop:
                    low = min(low, wi[old + here + lane])
                for p in range(begin, end):
                    low = min(low, wi[old + base + tab[p] + lane])
                ri[s, here + lane] = min(ri[s, here + lane], low)


@compiled
def grow(s, at, factor, m, e, ri, rf, ex):
    """Adds factor times a number to the number at a place."""
    fm, fe = normal(factor, 0)
    accumulate(s, at, fm, fe, m, e, ri, rf, ex)


@compiled
def accumulate(s, at, fm, fe, m, e, ri, rf, ex):
    """Adds the product of two numbers to the number at a place."""
    m, e = mul(fm, fe, m, e)
    m, e = add(rf[s, at], ex[s, at], m, e)
    rf[s, at] = m
    if e > 0 or ex[s, at] > 0:
        ex[s, at] = e
        ri[s, FLAGS] |= BIG


# ---- windows -------------------------------------------------------------------------------


@compiled
def roll(s, time, ri, rf, ex, tab, wi, wf, oi, of):
    """Leaves a row's pane: what ended at or before `time` is reported and forgotten."""
    if ri[s, END] == UNBORN:
        birth(s, ri, tab)
        return
    first, last = forms(tab)
    cross_panes(s, ri, rf, ex, tab, wi, wf)
    end = ri[s, END]
    for f in range(first, last, F_SIZE):
        within, slide = tab[f + F_WITHIN], tab[f + F_SLIDE]
        k = (end - 1 - within) // slide + 1
        newest = (end - 1) // slide
        while k <= newest and k * slide + within <= time:
            base = tab[f + F_WINDOWS] + (k % tab[f + F_OPEN]) * tab[f + F_BLOCK]
            for i in range(tab[f + F_QUERIES]):
                finish(s, f, i, k, base + i, ri, rf, ex, tab, wi, oi, of)
            clear(s, f, base, ri, rf, ex, tab)
            k += 1
    if SLIDING:
        settle(s, ri, rf, ex, tab, wi, wf)
    else:
        ri[s, FLAGS] &= ~BIG


@inlined
def forms(tab):
    """Where the forms begin and end."""
    return tab[T_FORM], tab[T_FORM] + tab[T_FORMS] * F_SIZE


@compiled
def birth(s, ri, tab):
    ri[s, TYPE] = NO_TYPE
    for j in range(MINS):
        ri[s, MIN_AT + j] = NEUTRAL
    if MINS:
        first, last = forms(tab)
        for f in range(first, last, F_SIZE):
            for v in range(tab[f + F_OPEN]):
                no_minima(s, f, tab[f + F_WINDOWS] + v * tab[f + F_BLOCK], ri, tab)


@compiled
def no_minima(s, f, base, ri, tab):
    lanes, mins, side = tab[f + F_LANES], tab[f + F_MINS], tab[f + F_QUERIES]
    for state in range(tab[f + F_STATES]):
        at = base + (state * (1 + lanes + mins) + 1 + lanes) * side
        for w in range(at, at + mins * side):
            ri[s, w] = NEUTRAL


@compiled
def clear(s, f, base, ri, rf, ex, tab):
    for w in range(base, base + tab[f + F_BLOCK]):
        rf[s, w] = 0.0
    if ri[s, FLAGS] & BIG:
        for w in range(base, base + tab[f + F_BLOCK]):
            ex[s, w] = 0
    if MINS:
        no_minima(s, f, base, ri, tab)


@compiled
def finish(s, f, i, k, base, ri, rf, ex, tab, wi, oi, of):
    """Reports a window of a query: what has come to the last states, if any trend has."""
    found = 0.0
    for p in range(tab[f + F_LASTS], tab[f + F_LASTS_END]):
        found = max(found, rf[s, base + tab[p]])
    query = tab[f + F_FIRST] + i
    if found == 0.0 or k * tab[f + F_SLIDE] < tab[tab[T_SINCE] + query]:
        return
    lanes, mins, side = tab[f + F_LANES], tab[f + F_MINS], tab[f + F_QUERIES]
    out = wi[W_RESULTS] * OUT_SIZE
    wi[W_RESULTS] += 1
    for w in range(out, out + OUT_MINS):
        oi[w] = 0
    for j in range(mins):
        oi[out + OUT_MINS + j] = NEUTRAL
    oi[out] = tab[tab[T_NUMBERS] + query]
    oi[out + 1] = k
    oi[out + 2] = s
    for p in range(tab[f + F_LASTS], tab[f + F_LASTS_END]):
        at = base + tab[p]
        if rf[s, at] == 0.0:
            continue
        for j in range(1 + lanes):
            n = out + OUT_NUMBERS + 2 * j
            m, e = add(of[n], oi[n + 1], rf[s, at + j * side], np.int64(ex[s, at + j * side]))
            of[n] = m
            oi[n + 1] = e
        for j in range(mins):
            n = out + OUT_MINS + j
            oi[n] = min(oi[n], ri[s, at + (1 + lanes + j) * side])


@compiled
def settle(s, ri, rf, ex, tab, wi, wf):
    """For the pane to come: is the row still big, and are its windows better stepped one by one
    or by one operator for the pane? The last pane tells how much to expect."""
    flags = ri[s, FLAGS] & ~PANE_MODE
    if flags & BIG:
        flags &= ~BIG
        for w in range(STATES_AT, ex.shape[1]):
            if ex[s, w] != 0:
                flags |= BIG
    strategy = wi[W_STRATEGY]
    if strategy == PANES or (strategy != VECTORS and ri[s, EVENTS] > wf[W_POLICY + C_PANE]):
        flags |= PANE_MODE
        first, last = forms(tab)
        for f in range(first, last, F_SIZE):
            if tab[f + F_COLUMNS] > 0:
                basis(s, f, ri, rf, ex, tab)
    ri[s, FLAGS] = flags
    ri[s, EVENTS] = 0


@compiled
def basis(s, f, ri, rf, ex, tab):
    """Column 0 begins with nothing, column p + 1 with one partial trend in state p."""
    size, states, side = tab[f + F_BLOCK], tab[f + F_STATES], tab[f + F_QUERIES]
    for w in range(tab[f + F_COLUMNS], tab[f + F_COLUMNS] + (states + 1) * size):
        rf[s, w] = 0.0
        ex[s, w] = 0
    for v in range(states + 1):
        base = tab[f + F_COLUMNS] + v * size
        if v > 0:
            one = base + (v - 1) * (size // states)
            for w in range(one, one + side):
                rf[s, w] = 1.0
        if MINS:
            no_minima(s, f, base, ri, tab)


@compiled
def cross_panes(s, ri, rf, ex, tab, wi, wf):
    """Applies the pane's operator, if there is one, to every open window."""
    if SLIDING and ri[s, FLAGS] & PANE_MODE:
        first, last = forms(tab)
        for f in range(first, last, F_SIZE):
            if tab[f + F_COLUMNS] > 0:
                idle = idle_window(ri[s, END], f, tab)
                for v in range(tab[f + F_OPEN]):
                    if v != idle:
                        base = tab[f + F_WINDOWS] + v * tab[f + F_BLOCK]
                        cross_pane(s, f, base, ri, rf, ex, tab, wi, wf)


@compiled
def cross_pane(s, f, base, ri, rf, ex, tab, wi, wf):
    """Applies the pane's operator to one window."""
    size, lanes, mins, side = (
        tab[f + F_BLOCK], tab[f + F_LANES], tab[f + F_MINS], tab[f + F_QUERIES])  # fmt: skip
    step = (1 + lanes + mins) * side
    columns = tab[f + F_COLUMNS]
    old, old_e = wi[W_BEFORE], wi[W_BEFORE_E]
    for w in range(size):
        wi[old + w] = ri[s, base + w]
        wi[old_e + w] = ex[s, base + w]
        ri[s, base + w] = ri[s, columns + w]
        ex[s, base + w] = ex[s, columns + w]
    for p in range(0, size, step):
        column = columns + (p // step + 1) * size
        for t in range(0, size, step):
            for i in range(side):
                m, e = wf[old + p + i], wi[old_e + p + i]
                there, here = column + t + i, base + t + i
                fm, fe = rf[s, there], np.int64(ex[s, there])
                if m == 0.0 or fm == 0.0:
                    continue
                accumulate(s, here, fm, fe, m, e, ri, rf, ex)
                for j in range(side, (1 + lanes) * side, side):
                    am, ae = wf[old + p + i + j], wi[old_e + p + i + j]
                    accumulate(s, here + j, fm, fe, am, ae, ri, rf, ex)
                    am, ae = rf[s, there + j], np.int64(ex[s, there + j])
                    accumulate(s, here + j, am, ae, m, e, ri, rf, ex)
                for j in range((1 + lanes) * side, step, side):
                    low = min(wi[old + p + i + j], ri[s, there + j])
                    ri[s, here + j] = min(ri[s, here + j], low)


@compiled
def sweep(first, time, used, ri, rf, ex, tab, wi, wf, pi, pf, oi, of):
    """Closes in every row what ends at or before `time`. Rows without open windows are unborn
    again. Gives the row to go on from when the room for results has to grow."""
    pane = wi[W_PANE]
    for row in range(first, used):
        s = np.uintp(row)
        if ri[s, END] == UNBORN or time < ri[s, END]:
            continue
        if (wi[W_RESULTS] + wi[W_ROOM] + 1) * OUT_SIZE > len(oi):
            return row
        flush(s, ri, rf, ex, tab, wi, wf, pi, pf)
        roll(s, time, ri, rf, ex, tab, wi, wf, oi, of)
        if not SLIDING or time - wi[W_LONGEST] >= ri[s, LAST] - pane:
            ri[s, END] = UNBORN
            ri[s, FLAGS] = 0
        else:
            ri[s, END] = (time // pane + 1) * pane
    return used


@compiled
def settle_all(used, ri, rf, ex, tab, wi, wf, pi, pf):
    """Brings every row to where only its windows count: no burst runs, no pane is open."""
    for row in range(used):
        s = np.uintp(row)
        if ri[s, END] == UNBORN:
            continue
        flush(s, ri, rf, ex, tab, wi, wf, pi, pf)
        cross_panes(s, ri, rf, ex, tab, wi, wf)
        ri[s, FLAGS] &= ~PANE_MODE
