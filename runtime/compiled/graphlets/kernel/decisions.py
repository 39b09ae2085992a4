"""Counts decisions, keeps examples of them, and times some."""

from __future__ import annotations

from runtime.compiled.jit import brief, inlined
from runtime.compiled.ticks import nanoseconds

from .words import (
    CONTINUED,
    D_ALL,
    D_BENEFIT,
    D_EVENTS,
    D_SHARED,
    D_SHARED_NS,
    D_SIZE,
    D_SNAPSHOTS,
    D_SPLIT,
    D_SPLIT_NS,
    FLAGS,
    L_BENEFIT,
    L_CLASSES,
    L_EVENTS,
    L_KIND,
    L_NS,
    L_NUMBER,
    L_QUERIES,
    L_SIZE,
    L_SNAPSHOTS,
    L_TYPE,
    L_VERSION,
    MERGED,
    SHARED,
    SPLIT,
    W_DECISIONS,
    W_LOG,
    W_LOG_SIZE,
    W_LOGGED,
    W_SAMPLE,
    W_VERSION,
    WAS_SHARED,
    WAS_SPLIT,
)


@inlined
def decided(h, s, t, shared, events, snapshots, queries, benefit):
    """Counts a decision. Gives the place of the log where this one is an example, else -1."""
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
    wi[at + D_SNAPSHOTS] += snapshots
    h.wf[at + D_BENEFIT] += benefit
    n = wi[at + D_ALL] + 1
    wi[at + D_ALL] = n
    if n & (n - 1) == 0 or n & wi[W_SAMPLE] == 0:  # more and more rarely, then evenly
        return example(h, t, kind, events, snapshots, queries, benefit, n)
    return -1


@brief
def example(h, t, kind, events, snapshots, queries, benefit, n):
    wi = h.wi
    place = wi[W_LOG] + L_SIZE * (wi[W_LOGGED] % wi[W_LOG_SIZE])
    wi[W_LOGGED] += 1
    wi[place + L_TYPE] = t
    wi[place + L_KIND] = kind
    wi[place + L_EVENTS] = events
    wi[place + L_SNAPSHOTS] = snapshots
    wi[place + L_CLASSES] = 1
    wi[place + L_QUERIES] = queries
    h.wf[place + L_BENEFIT] = benefit
    wi[place + L_NUMBER] = n
    wi[place + L_VERSION] = wi[W_VERSION]
    wi[place + L_NS] = nanoseconds()
    return place


@brief
def carried_out(h, place):
    """How long the work took that a logged decision was about."""
    wi = h.wi
    spent = nanoseconds() - wi[place + L_NS]
    wi[place + L_NS] = spent
    at = wi[W_DECISIONS] + D_SIZE * wi[place + L_TYPE]
    if wi[place + L_KIND] == SPLIT:
        wi[at + D_SPLIT] += 1
        wi[at + D_SPLIT_NS] += spent
    else:
        wi[at + D_SHARED] += 1
        wi[at + D_SHARED_NS] += spent
