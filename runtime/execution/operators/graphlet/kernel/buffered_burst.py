"""Buffers the events of a burst on which queries differ until the burst ends.

A block of the pool holds the events of one burst by columns: a word for each event with a bit for
each condition that picked it, then a column for each attribute.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.cycle_clock import nanoseconds
from runtime.execution.jit import apart, brief, inlined, scanning

from .apply import apply
from .decision_counters import (
    carried_out,
    decided,
    done,
    sampled,
)
from .interpreted_step import enter
from .operators import (
    attributes,
    decides,
    entries,
    extremes,
    operator_of_agreed,
)
from .parts import touch
from .record import (
    APART,
    APART_AT,
    ATTRS,
    BITS_SIZE,
    BLOCK,
    BURST,
    BURSTS,
    C_APPLY,
    C_COMPARE,
    C_JOIN,
    C_OPERATOR,
    C_PICK,
    C_SCAN,
    CLASSES,
    COUNT,
    D_ALL,
    D_CLASSES,
    D_SIZE,
    DYNAMIC,
    E_BIT,
    E_NEXT,
    E_PLACE,
    E_PREVIOUS,
    E_QUERIES,
    E_ROW_CLASS,
    E_SIZE,
    EVENTS_OF,
    L_CLASSES,
    L_COMPARED,
    L_CONDITIONS,
    L_EACH,
    L_EXPECTED,
    L_NS,
    LOOK_AGAIN,
    LOOK_APART,
    NEUTRAL,
    PARTS,
    SLIDING,
    T_BITS,
    T_FULL,
    W_CLASS,
    W_DECISIONS,
    W_FREE,
    W_LAST,
    W_LEAST,
    W_LEFT,
    W_PARTS,
    W_PICKS,
    W_POLICY,
    W_SHARING,
    WAITING,
)
from .sequence_step import apply_steps
from .vectors import vectors_of


@brief
def wait(h, s, i, t, mask, values, keys):
    """Buffers an event on which queries differ until its burst is complete."""
    ri, tab, wi, pi, pf = h.ri, h.tab, h.wi, h.pi, h.pf
    n = ri[s, WAITING]
    if n == 0:
        ri[s, BLOCK] = wi[W_FREE]
        wi[W_FREE] = pi[wi[W_FREE]]
        wi[W_LEFT] -= 1
    at = ri[s, BLOCK] + n
    pi[at] = mask
    first, number = attributes(h, t)
    for j in range(number):
        pf[at + (1 + j) * BURST] = values[tab[first + j], i]
    first, number = extremes(h, t)
    for j in range(number):
        pi[at + (1 + ATTRS + j) * BURST] = keys[tab[first + j], i]
    ri[s, WAITING] = n + 1


@brief
def snapshot(h, s, i, t, mask, values, keys):
    """`always`: if queries differ on an event, its count becomes a snapshot with a value for each
    query, for which the shared operator has just been evaluated."""
    if PARTS:
        touch(h, s, t)
    _, _, queries = entries(h, t)
    place = decided(h, s, t, True, 1, 1, queries, 0.0) if decides(h, t) else -1
    enter(h, s, i, t, mask, values, keys)
    if SLIDING:
        h.ri[s, BURSTS] += 1
    if place >= 0:
        carried_out(h, place)


@brief
def flush_waiting(h, s, t):
    """Ends a burst on which queries differ: shared by classes, or each query separately."""
    ri, tab, wi, wf, pi = h.ri, h.tab, h.wi, h.wf, h.pi
    n, block, agreed = ri[s, WAITING], ri[s, BLOCK], ri[s, COUNT]
    begin, end, queries = entries(h, t)
    shared, benefit, classes, place = False, 0.0, queries, -1
    conditions = bits(tab[tab[T_FULL] + t])
    counts, began, applied, joined = decides(h, t), 0, 0, 0
    expected, each = 0.0, 0
    if wi[W_SHARING] == DYNAMIC:
        at = wi[W_DECISIONS] + D_SIZE * t
        each = vectors_of(h, s, tab[begin + E_ROW_CLASS])
        expected = wf[at + D_CLASSES]
        benefit = benefit_of_classes(h, n, queries, conditions, expected, each)
        number = wi[at + D_ALL] + 1
        shared = number & LOOK_AGAIN == 0 or (benefit > 0.0 and number & LOOK_APART != APART_AT)
        if shared:
            began = nanoseconds() if counts and sampled(h, number) else 0
            classes = classify(h, n, block, conditions)
            wf[at + D_CLASSES] += 0.25 * (classes - expected)
    if counts:
        place = decided(h, s, t, shared, n + agreed, n, queries, benefit)
    if place >= 0:
        wi[place + L_CLASSES] = classes
        wi[place + L_CONDITIONS] = conditions
        wf[place + L_EXPECTED] = expected
        wi[place + L_EACH] = each
        if shared:
            wi[place + L_COMPARED] = wi[place + L_NS] - began
    if shared:
        applied, joined = by_classes(h, s, t, n, block, agreed)
    else:
        for e in range(begin, end, E_SIZE):
            for i in range(tab[e + E_QUERIES]):
                count = agreed + picked(h, block, n, tab[e + E_BIT])
                if count > 0:
                    gather(h, s, t, tab[e + E_BIT], n, block, count)
                    applied += apply(h, s, e, tab[e + E_PLACE] + i, 1, count)
    if place >= 0:
        carried_out(h, place)
        done(h, s, place, CLASSES if shared else APART, applied, joined, begin, end)
    ri[s, WAITING] = 0
    pi[block] = wi[W_FREE]
    wi[W_FREE] = block
    wi[W_LEFT] += 1


@inlined
def benefit_of_classes(h, n, queries, conditions, classes, each):
    """Predicted nanoseconds saved by sharing; `plan/cost_model.py` has the same formula. A query
    alone scans the buffered events and applies its operator to `each` of its vectors; shared, the
    picks of conditions are compared, and each class of equal picks does that work once. A query
    without snapshots of its own joins the class it agrees with at almost no cost (theorem 4.1); one
    with snapshots forms a class, which costs as much as the query alone, so the number of classes
    decides (theorem 4.2). Previous bursts predict that number; as many classes as possible are
    assumed to have several queries, whose loops vary in length."""
    wf = h.wf
    alone = wf[W_POLICY + C_OPERATOR] + n * wf[W_POLICY + C_SCAN] + each * wf[W_POLICY + C_APPLY]
    compared = n * wf[W_POLICY + C_PICK] + classes * wf[W_POLICY + C_COMPARE]
    joined = min(classes, queries - classes) * each * wf[W_POLICY + C_JOIN]
    return (queries - classes) * alone - conditions * compared - joined


@apart
def classify(h, n, block, conditions):
    """Finds the conditions that picked the same events; returns the number of such classes. Each
    condition is mapped to the first one of its class, and that one to the last."""
    wi, pi = h.wi, h.pi
    picks, classes = np.uintp(W_PICKS), np.uintp(W_CLASS)
    for d in range(np.uintp(conditions)):
        wi[picks + d] = 0
    for i in range(n):
        mask = pi[block + i]
        for d in range(np.uintp(conditions)):
            wi[picks + d] |= (mask >> np.int64(d) & 1) << i
    found = 0
    for d in range(conditions):
        mine = wi[W_PICKS + d]
        # Conditions are ordered so that those with equal picks are often adjacent.
        if d > 0 and wi[W_PICKS + d - 1] == mine:
            same = wi[W_CLASS + d - 1]
        else:
            same = 0
            while wi[picks + np.uintp(same)] != mine:
                same += 1
            found += same == d
        wi[classes + np.uintp(d)] = same
        wi[np.uintp(W_LAST + same)] = d
    return found


@brief
def by_classes(h, s, t, n, block, agreed):
    """Applies one operator for each class of conditions that picked the same events; returns the
    number of vectors, and how many of them were of several queries."""
    tab, wi = h.tab, h.wi
    conditions, applied, joined = bits(tab[tab[T_FULL] + t]), 0, 0
    for d in range(conditions):
        if wi[W_CLASS + d] == d:
            count = agreed + bits(wi[W_PICKS + d])
            if count > 0:
                gather(h, s, t, d, n, block, count)
                more, several = apply_class(h, s, t, d, conditions, count)
                applied += more
                joined += several
    return applied, joined


@brief
def apply_class(h, s, t, d, conditions, count):
    """Applies the operator in scratch to the entries of all conditions of a class. Contiguous
    entries of consecutive conditions are processed together."""
    tab, wi = h.tab, h.wi
    begins, applied, joined = tab[T_BITS] + t * BITS_SIZE, 0, 0
    for other in range(d, wi[W_LAST + d] + 1):
        if wi[W_CLASS + other] != d:
            continue
        follows = other > d and wi[W_CLASS + other - 1] == d
        first, after = tab[begins + other], tab[begins + other + 1]
        if first < after:
            first = apply_steps(h, s, t, first, count)
        for e in range(first, after, E_SIZE):
            if follows and tab[e + E_PREVIOUS] != 0:
                continue
            queries, end, last = tab[e + E_QUERIES], e, other + 1
            while last < conditions and wi[W_CLASS + last] == d and tab[end + E_NEXT] != 0:
                end = tab[end + E_NEXT]
                queries += tab[end + E_QUERIES]
                last += 1
            number = apply(h, s, e, tab[e + E_PLACE], queries, count)
            applied += number
            joined += number if queries > 1 else 0
    return applied, joined


@brief
def gather(h, s, t, bit, n, block, count):
    """The operator of `count` events: the agreed ones and the buffered ones a condition picked."""
    wi, wf = h.wi, h.wf
    operator_of_agreed(h, s, t, h.ri[s, COUNT])
    wf[W_PARTS + EVENTS_OF] = count
    _, sums = attributes(h, t)
    for j in range(sums):
        total, values = added(h, block, block + (1 + j) * BURST, n, bit)
        wf[W_PARTS + 2 + 2 * j] += total
        wf[W_PARTS + 3 + 2 * j] += values
    _, mins = extremes(h, t)
    for j in range(mins):
        at = block + (1 + ATTRS + j) * BURST
        wi[W_LEAST + j] = min(wi[W_LEAST + j], least(h, block, at, n, bit))


@scanning
def picked(h, block, n, bit):
    pi, block = h.pi, np.uintp(block)
    count = np.int64(0)
    for i in range(np.uintp(n)):
        count += pi[block + i] >> bit & 1
    return count


@scanning
def added(h, block, at, n, bit):
    """The sum of the values that a condition picked, and their number."""
    pi, pf, block, at = h.pi, h.pf, np.uintp(block), np.uintp(at)
    total, values = 0.0, 0.0
    for i in range(np.uintp(n)):
        x = pf[at + i]
        taken = (pi[block + i] >> bit & 1 == 1) & (x == x)
        total += x if taken else 0.0
        values += 1.0 if taken else 0.0
    return total, values


@scanning
def least(h, block, at, n, bit):
    pi, block, at = h.pi, np.uintp(block), np.uintp(at)
    low = NEUTRAL
    for i in range(np.uintp(n)):
        key = pi[at + i] if pi[block + i] >> bit & 1 else NEUTRAL
        low = min(low, key)
    return low


@inlined
def bits(word):
    """The number of set bits."""
    x = np.uint64(word)
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
