"""Reads the tables of an event type, and computes the operator of events all queries agree on."""

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
    """The start of the list of a type's summed attributes, and its length."""
    at = h.tab[T_ATTRS] + t * (1 + ATTRS)
    return at + 1, h.tab[at] if ATTRS else 0


@inlined
def extremes(h, t):
    """The start of the list of a type's minima and maxima, and its length."""
    at = h.tab[T_MINS] + t * (1 + MINS)
    return at + 1, h.tab[at] if MINS else 0


@inlined
def entries(h, t):
    """The start and end of the entries of a type, and the number of their queries."""
    at = h.tab[T_BITS] + t * BITS_SIZE
    return h.tab[at], h.tab[at + 64], h.tab[at + 65]


@inlined
def decides(h, t):
    """Whether sharing a burst of a type is a choice."""
    return h.tab[h.tab[T_BITS] + t * BITS_SIZE + 66] != 0


@inlined
def operator_of_agreed(h, s, t, count):
    """The sums of the events on which all queries agree, as the inputs of lanes."""
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
    """The values of one event, as the inputs of lanes."""
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
