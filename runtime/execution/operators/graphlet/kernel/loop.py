"""The loop over events: each event joins the burst of its partition, or ends it."""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import entry, inlined
from runtime.execution.prefetch import AHEAD, prefetch

from .buffered_burst import snapshot, wait
from .bursts import flush
from .record import (
    ALWAYS,
    BUFFERS,
    BURST,
    BURSTS,
    END,
    LAST,
    NEVER,
    ORDERED,
    OUT_SIZE,
    SLIDING,
    T_FULL,
    TYPE,
    W_LEFT,
    W_MOST_RESULTS,
    W_PANE,
    W_RESULTS,
    W_SHARING,
    WAITING,
)
from .steps import add_to_burst, at_once, enter
from .ties import together
from .windows import roll


@entry
def run(first, order, times, local, types, slots, values, keys, masks, group, follower, h):
    """Processes events from index `first` on, in an order (empty: arrival order). Returns the
    index to continue from when the memory for results or buffered events has to grow first."""
    ri, tab, wi = h.ri, h.tab, h.wi
    full = tab[T_FULL]
    pane, sharing = wi[W_PANE], wi[W_SHARING]
    results = len(h.oi) // OUT_SIZE - wi[W_MOST_RESULTS]
    # Indexes are unsigned, which avoids the check for negative ones.
    far = np.uintp(AHEAD)
    size = np.uintp(len(times))
    ordered = ORDERED and len(order) > 0
    for n in range(np.uintp(first), size):
        i = np.uintp(order[n]) if ORDERED and ordered else n
        if n + far < size:
            later = np.uintp(order[n + far]) if ORDERED and ordered else n + far
            ahead = np.int64(slots[later])
            prefetch(ri, ahead, 0)
            prefetch(ri, ahead, 8)
            if ORDERED and ordered and n + far + far < size:
                event = np.int64(order[n + far + far])
                prefetch(group, event, 0)
                prefetch_event(event, times, types, slots, values, keys, masks)
        t = local[np.uintp(types[i])]
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
            # The only call that ends bursts, so that all of it is inlined into this loop.
            flush(h, s)
            if (over or group[i] > 0) and wi[W_RESULTS] > results:
                return np.int64(n)
            if over:
                roll(h, s, times[i])
                ri[s, END] = (times[i] // pane + 1) * pane
            if group[i] > 0:
                together(h, s, np.int64(i), times, local, types, values, keys, masks, follower)
                continue
            if at_once(t):
                enter(h, s, i, t, mask, values, keys)
                if SLIDING:
                    ri[s, BURSTS] += 1
                    ri[s, LAST] = ri[s, END]
                continue
            ri[s, TYPE] = t
        if SLIDING:
            ri[s, LAST] = ri[s, END]
        if differs:
            if sharing == ALWAYS:
                snapshot(h, s, i, t, mask, values, keys)
            else:
                if wi[W_LEFT] == 0 and ri[s, WAITING] == 0:
                    return np.int64(n)
                wait(h, s, i, t, mask, values, keys)
            continue
        add_to_burst(h, s, i, t, values, keys)
    return len(times)


@inlined
def prefetch_event(i, times, types, slots, values, keys, masks):
    """Prefetches an event that does not follow the last one in memory."""
    prefetch(times, i, 0)
    prefetch(types, i, 0)
    prefetch(slots, i, 0)
    if BUFFERS:
        prefetch(masks, i, 0)
    for j in range(values.shape[0]):
        prefetch(values, j, i)
    for j in range(keys.shape[0]):
        prefetch(keys, j, i)
