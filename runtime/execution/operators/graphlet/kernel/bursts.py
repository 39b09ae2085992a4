"""Ends a burst: applies its operator and starts the next one."""

from __future__ import annotations

from runtime.execution.jit import brief, inlined

from .buffered_burst import flush_waiting
from .decision_counters import carried_out, decided, done, reach
from .operators import decides, entries
from .parts import touch
from .record import (
    ACC,
    AGREED,
    ATTRS,
    BUFFERS,
    BURSTS,
    C_OPERATOR,
    C_SCAN,
    COUNT,
    MIN_AT,
    MINS,
    NEUTRAL,
    PARTS,
    SLIDING,
    T_WIDE,
    TYPE,
    W_POLICY,
    WAITING,
)
from .steps import apply_agreed


@inlined
def flush(h, s):
    """Ends the burst of a row: applies its operator to the snapshot of every query."""
    ri, rf = h.ri, h.rf
    t = ri[s, TYPE]
    count = ri[s, COUNT]
    if BUFFERS and ri[s, WAITING] > 0:
        if PARTS:
            touch(h, s, t)
        flush_waiting(h, s, t)
    elif count > 0:
        if PARTS:
            touch(h, s, t)
        if decides(h, t):
            shared_by(h, s, t, count)
        else:
            apply_agreed(h, s, t, count)
    else:
        return
    if SLIDING:
        ri[s, BURSTS] += 1
    ri[s, COUNT] = 0
    for j in range(2 * ATTRS):
        rf[s, ACC + j] = 0.0
    for j in range(MINS):
        ri[s, MIN_AT + j] = NEUTRAL


@brief
def shared_by(h, s, t, count):
    """A burst on which all queries agree is always shared (theorem 4.1): it needs no snapshots
    except at its beginning."""
    tab, wf = h.tab, h.wf
    _, _, queries = entries(h, t)
    saved = (queries - 1) * (wf[W_POLICY + C_OPERATOR] + count * wf[W_POLICY + C_SCAN])
    place = decided(h, s, t, True, count, 0, queries, saved)
    apply_agreed(h, s, t, count)
    if place >= 0:
        carried_out(h, place)
        begin, end = tab[tab[T_WIDE] + 2 * t], tab[tab[T_WIDE] + 2 * t + 1]
        applied, _ = reach(h, s, begin, end)
        done(h, s, place, AGREED, applied, 0, begin, end)
