"""Times the steps of the kernel for the cost model; each runs several times."""

from __future__ import annotations

import numpy as np

from runtime.execution.cycle_clock import nanoseconds
from runtime.execution.jit import apart, entry

from .apply import apply
from .buffered_burst import (
    by_classes,
    classify,
    gather,
    picked,
)
from .decision_counters import decided
from .operators import entries
from .record import (
    BLOCK,
    E_ROW_CLASS,
    RC_BLOCK,
    RC_COLUMNS,
    RC_OPEN,
    RC_STATES,
    RC_WINDOWS,
)
from .windows import cross_pane

(M_GATHER_ONE, M_GATHER, M_CLASSIFY_ONE, M_CLASSIFY, M_CLASSES, M_APPLY_IDLE, M_APPLY, M_APPLY_ALL,
 M_CROSS, M_DECIDE) = range(10)  # fmt: skip
M_SIZE = 10


@entry
def measure(s, single, repeated, events, conditions, rounds, out, h):
    """Nanoseconds for `rounds` calls of each. `single` is a type that no state repeats,
    `repeated` one on which conditions differ, with `events` buffered in row `s`."""
    block = h.ri[s, BLOCK]
    out[M_GATHER_ONE] = gathering(h, s, repeated, 1, block, rounds)
    out[M_GATHER] = gathering(h, s, repeated, events, block, rounds)
    out[M_CLASSIFY_ONE] = classifying(h, 1, block, conditions, rounds)
    out[M_CLASSIFY] = classifying(h, events, block, conditions, rounds)
    out[M_CLASSES] = by_their_classes(h, s, repeated, events, block, rounds)
    out[M_APPLY_IDLE] = applying(h, s, repeated, 1, rounds)
    out[M_APPLY] = applying(h, s, single, 1, rounds)
    out[M_APPLY_ALL] = applying(h, s, single, conditions, rounds)
    out[M_CROSS] = crossing(h, s, single, rounds)
    out[M_DECIDE] = deciding(h, s, repeated, rounds)


@apart
def gathering(h, s, t, n, block, rounds):
    began = nanoseconds()
    for _ in range(rounds):
        gather(h, s, t, 0, n, block, picked(h, block, n, 0))
    return nanoseconds() - began


@apart
def classifying(h, n, block, conditions, rounds):
    began = nanoseconds()
    for _ in range(rounds):
        classify(h, n, block, conditions)
    return nanoseconds() - began


@apart
def by_their_classes(h, s, t, n, block, rounds):
    """Uses the classes that were found last."""
    began = nanoseconds()
    for _ in range(rounds):
        by_classes(h, s, t, n, block, 0)
    return nanoseconds() - began


@apart
def applying(h, s, t, queries, rounds):
    first, _, _ = entries(h, t)
    began = nanoseconds()
    for _ in range(rounds):
        apply(h, s, first, 0, queries, 1)
    return nanoseconds() - began


@apart
def crossing(h, s, t, rounds):
    """Crosses a pane with a window that has trends in every state, since zeros would be skipped.
    The pane leads from a state to itself and to those after it."""
    rf, tab = h.rf, h.tab
    first, _, _ = entries(h, t)
    f = tab[first + E_ROW_CLASS]
    size, states = tab[f + RC_BLOCK], tab[f + RC_STATES]
    for w in range(size):
        rf[s, tab[f + RC_WINDOWS] + tab[f + RC_OPEN] * w] = 1.0
        for column in range(states + 1):
            there = w // (size // states) >= column - 1
            rf[s, tab[f + RC_COLUMNS] + (states + 1) * w + column] = 1.0 if there else 0.0
    began = nanoseconds()
    for _ in range(rounds):
        cross_pane(h, s, f, 0)
    return nanoseconds() - began


@apart
def deciding(h, s, t, rounds):
    began = nanoseconds()
    for i in range(rounds):
        decided(h, s, t, True, np.int64(i), 0, 2, 1.0)
    return nanoseconds() - began
