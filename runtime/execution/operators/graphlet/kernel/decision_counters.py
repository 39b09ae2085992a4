"""Counts decisions, keeps examples of them, and times some."""

from __future__ import annotations

from runtime.execution.cycle_clock import nanoseconds
from runtime.execution.jit import brief, inlined

from .record import (
    CONTINUED,
    CROSSED,
    CROSSINGS,
    D_ALL,
    D_BENEFIT,
    D_EVENTS,
    D_SHARED,
    D_SHARED_NS,
    D_SIZE,
    D_SNAPSHOTS,
    D_SPLIT,
    D_SPLIT_NS,
    E_QUERIES,
    E_ROW_CLASS,
    E_SIZE,
    FIRST_CROSSINGS,
    FLAGS,
    L_APPLIED,
    L_BENEFIT,
    L_CLASSES,
    L_COMPARED,
    L_CONDITIONS,
    L_EACH,
    L_EVENTS,
    L_EXPECTED,
    L_JOINED,
    L_KIND,
    L_NS,
    L_NUMBER,
    L_QUERIES,
    L_SIZE,
    L_SNAPSHOTS,
    L_STEPPED,
    L_TYPE,
    L_VERSION,
    L_WAY,
    MERGED,
    SHARED,
    SINGLE,
    SPLIT,
    W_CROSSED,
    W_DECISIONS,
    W_LOG,
    W_LOG_SIZE,
    W_LOGGED,
    W_SAMPLE,
    W_VERSION,
    WAS_SHARED,
    WAS_SPLIT,
)
from .vectors import vectors_of


@inlined
def decided(h, s, t, shared, events, snapshots, queries, benefit):
    """Counts a decision; a shared burst creates snapshots. Returns the index of the log entry if
    the decision is an example, otherwise -1."""
    ri, wi = h.ri, h.wi
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
    wi[at + D_SNAPSHOTS] += snapshots if shared else 0
    h.wf[at + D_BENEFIT] += benefit
    n = wi[at + D_ALL] + 1
    wi[at + D_ALL] = n
    if sampled(h, n):
        return example(h, t, kind, events, snapshots, queries, benefit, n)
    return -1


@inlined
def sampled(h, n):
    """Samples more and more rarely, then evenly, two bursts in a row: every sixteenth burst is
    shared for comparison, so a single one could always be such a burst."""
    return n & (n - 1) == 0 or n & h.wi[W_SAMPLE] <= 1


@inlined
def next_place(h):
    """The index of the next log entry; overwrites the oldest one."""
    wi = h.wi
    place = wi[W_LOG] + L_SIZE * (wi[W_LOGGED] % wi[W_LOG_SIZE])
    wi[W_LOGGED] += 1
    return place


@brief
def example(h, t, kind, events, snapshots, queries, benefit, n):
    wi = h.wi
    place = next_place(h)
    wi[place + L_TYPE] = t
    wi[place + L_KIND] = kind
    wi[place + L_EVENTS] = events
    wi[place + L_SNAPSHOTS] = snapshots
    wi[place + L_CLASSES] = 1
    wi[place + L_QUERIES] = queries
    h.wf[place + L_BENEFIT] = benefit
    wi[place + L_NUMBER] = n
    wi[place + L_VERSION] = wi[W_VERSION]
    wi[place + L_WAY] = SINGLE
    wi[place + L_CONDITIONS] = 0
    wi[place + L_COMPARED] = 0
    h.wf[place + L_EXPECTED] = 1.0
    wi[place + L_EACH] = 0
    wi[place + L_NS] = nanoseconds()
    return place


@brief
def carried_out(h, place):
    """Logs the time of the work that followed a decision."""
    wi = h.wi
    spent = nanoseconds() - wi[place + L_NS] + wi[place + L_COMPARED]
    wi[place + L_NS] = spent
    at = wi[W_DECISIONS] + D_SIZE * wi[place + L_TYPE]
    if wi[place + L_KIND] == SPLIT:
        wi[at + D_SPLIT] += 1
        wi[at + D_SPLIT_NS] += spent
    else:
        wi[at + D_SHARED] += 1
        wi[at + D_SHARED_NS] += spent


@brief
def done(h, s, place, way, applied, joined, begin, end):
    """Logs the work on a sampled burst, for the entries from `begin` to `end`."""
    wi = h.wi
    _, stepped = reach(h, s, begin, end)
    wi[place + L_WAY] = way
    wi[place + L_APPLIED] = applied
    wi[place + L_JOINED] = joined
    wi[place + L_STEPPED] = stepped


@brief
def reach(h, s, begin, end):
    """The vectors of entries, and of the single queries in them."""
    tab = h.tab
    applied = stepped = 0
    for e in range(begin, end, E_SIZE):
        number = vectors_of(h, s, tab[e + E_ROW_CLASS])
        applied += number
        stepped += number * tab[e + E_QUERIES]
    return applied, stepped


@brief
def crossing(h):
    """Counts a pane crossing; returns the index of the log entry if it is timed, otherwise -1."""
    wi = h.wi
    wi[W_CROSSED] += 1
    if wi[W_CROSSED] > FIRST_CROSSINGS and wi[W_CROSSED] & CROSSINGS != 0:
        return -1
    place = next_place(h)
    wi[place + L_WAY] = CROSSED
    wi[place + L_COMPARED] = 0
    wi[place + L_VERSION] = wi[W_VERSION]
    wi[place + L_NS] = nanoseconds()
    return place


@brief
def crossed(h, place, numbers):
    wi = h.wi
    wi[place + L_NS] = nanoseconds() - wi[place + L_NS]
    wi[place + L_APPLIED] = numbers
