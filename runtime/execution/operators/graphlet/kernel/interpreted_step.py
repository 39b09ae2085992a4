"""Processes events and bursts of any workload by reading the tables."""

from __future__ import annotations

from runtime.execution.jit import brief, inlined

from .apply import apply, apply_alike
from .apply_one import wide_one
from .operators import (
    attributes,
    entries,
    extremes,
    operator_of_agreed,
    operator_of_event,
)
from .record import (
    ACC,
    BIG,
    COUNT,
    E_ALIKE,
    E_BIT,
    E_PLACE,
    E_QUERIES,
    E_ROW_CLASS,
    E_SIZE,
    FLAGS,
    MIN_AT,
    T_ENTRIES,
    T_WIDE,
)
from .sequence_step import apply_steps


@inlined
def add_to_burst(h, s, i, t, values, keys):
    """Adds an event to the current burst."""
    ri, rf, tab = h.ri, h.rf, h.tab
    ri[s, COUNT] += 1
    first, number = attributes(h, t)
    for j in range(number):
        x = values[tab[first + j], i]
        if x == x:
            rf[s, ACC + 2 * j] += x
        else:
            rf[s, ACC + 2 * j + 1] += 1.0
    first, number = extremes(h, t)
    for j in range(number):
        key = keys[tab[first + j], i]
        if key < ri[s, MIN_AT + j]:
            ri[s, MIN_AT + j] = key


@brief
def apply_agreed(h, s, t, count):
    """Applies the operator of the agreed events to all entries of a type."""
    tab = h.tab
    operator_of_agreed(h, s, t, count)
    first, end = tab[tab[T_WIDE] + 2 * t], tab[tab[T_WIDE] + 2 * t + 1]
    first = apply_steps(h, s, t, first, count)
    while first < end:
        last = first + E_SIZE
        while last < end and tab[last + E_ALIKE] == tab[first + E_ALIKE]:
            last += E_SIZE
        apply_alike(h, s, first, last, count)
        first = last


@brief
def enter(h, s, i, t, mask, values, keys):
    """Applies one event to the entries whose conditions picked it."""
    tab = h.tab
    operator_of_event(h, i, t, values, keys)
    begin, end, _ = entries(h, t)
    for e in range(begin, end, E_SIZE):
        if mask >> tab[e + E_BIT] & 1:
            apply(h, s, e, tab[e + E_PLACE], tab[e + E_QUERIES], 1)


@brief
def apply_entry(h, s, t, n, count, base, step, start):
    """Applies a burst to the n-th entry, with exponents."""
    operator_of_agreed(h, s, t, count)
    extend(h, s, n, count, base, step, start)


@brief
def enter_entry(h, s, t, n, i, values, keys, base, step, start):
    """Applies one event to the n-th entry, with exponents."""
    operator_of_event(h, i, t, values, keys)
    extend(h, s, n, 1, base, step, start)


@inlined
def extend(h, s, n, count, base, step, start):
    h.ri[s, FLAGS] |= BIG
    e = h.tab[T_ENTRIES] + n * E_SIZE
    wide_one(h, s, e, h.tab[e + E_ROW_CLASS], count, base, step, start)
