"""What a type's events can add up to, and the operator of those on which all queries agree."""

from __future__ import annotations

from runtime.execution.jit import inlined

from .record import (
    ACC,
    ATTRS,
    BITS_SIZE,
    EVENTS_OF,
    MIN_AT,
    MINS,
    T_ATTRS,
    T_BITS,
    T_MINS,
    W_LEAST,
    W_PARTS,
)


@inlined
def attributes(h, t):
    """Where the summed attributes of a type are listed, and how many there are."""
    at = h.tab[T_ATTRS] + t * (1 + ATTRS)
    return at + 1, h.tab[at] if ATTRS else 0


@inlined
def extremes(h, t):
    """Where the minima and maxima of a type are listed, and how many there are."""
    at = h.tab[T_MINS] + t * (1 + MINS)
    return at + 1, h.tab[at] if MINS else 0


@inlined
def entries(h, t):
    """Where the entries of a type begin and end, and how many queries they are for."""
    at = h.tab[T_BITS] + t * BITS_SIZE
    return h.tab[at], h.tab[at + 64], h.tab[at + 65]


@inlined
def decides(h, t):
    """Whether it is a decision to share a burst of a type."""
    return h.tab[h.tab[T_BITS] + t * BITS_SIZE + 66] != 0


@inlined
def operator_of_agreed(h, s, t, count):
    """What the events on which all queries agree have come to, as parts for lanes."""
    ri, rf, wi, wf = h.ri, h.rf, h.wi, h.wf
    wf[W_PARTS + EVENTS_OF] = count
    _, number = attributes(h, t)
    for j in range(number):
        wf[W_PARTS + 2 + 2 * j] = rf[s, ACC + 2 * j]
        wf[W_PARTS + 3 + 2 * j] = count - rf[s, ACC + 2 * j + 1]
    _, number = extremes(h, t)
    for j in range(number):
        wi[W_LEAST + j] = ri[s, MIN_AT + j]


@inlined
def operator_of_event(h, i, t, values, keys):
    """One event, as parts for lanes."""
    tab, wi, wf = h.tab, h.wi, h.wf
    wf[W_PARTS + EVENTS_OF] = 1.0
    first, number = attributes(h, t)
    for j in range(number):
        x = values[tab[first + j], i]
        wf[W_PARTS + 2 + 2 * j] = x if x == x else 0.0
        wf[W_PARTS + 3 + 2 * j] = 1.0 if x == x else 0.0
    first, number = extremes(h, t)
    for j in range(number):
        wi[W_LEAST + j] = keys[tab[first + j], i]
