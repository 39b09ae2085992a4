"""The vectors of a row class: one for each open window, or the columns of the pane's operator."""

from __future__ import annotations

from runtime.execution.jit import brief, inlined

from .record import (
    END,
    FLAGS,
    PANE_MODE,
    RC_COLUMNS,
    RC_EVEN,
    RC_OPEN,
    RC_SLIDE,
    RC_STATES,
    RC_WINDOWS,
    RC_WITHIN,
    SLIDING,
)


@inlined
def vectors(h, s, f):
    """The start of the vectors of a row class, their number, and the idle one (-1: none)."""
    tab = h.tab
    if SLIDING:
        if h.ri[s, FLAGS] & PANE_MODE and tab[f + RC_COLUMNS] > 0:
            return tab[f + RC_COLUMNS], tab[f + RC_STATES] + 1, -2
        return tab[f + RC_WINDOWS], tab[f + RC_OPEN], idle_window(h, h.ri[s, END], f)
    return tab[f + RC_WINDOWS], 1, -1


@inlined
def vectors_of(h, s, f):
    """The number of vectors of a row class."""
    tab = h.tab
    if SLIDING:
        if h.ri[s, FLAGS] & PANE_MODE and tab[f + RC_COLUMNS] > 0:
            return tab[f + RC_STATES] + 1
        return tab[f + RC_OPEN]
    return 1


@inlined
def start_of(v, idle):
    """Whether trends may start in a vector: not in the idle one; for columns (-2) only in the
    first."""
    if SLIDING:
        return 0.0 if v == idle or (idle == -2 and v > 0) else 1.0
    return 1.0


@brief
def idle_window(h, end, f):
    """The index of a window that ended before this pane and has no successor yet, or -1; it can
    exist if the slide does not divide the window."""
    tab = h.tab
    if tab[f + RC_EVEN]:
        return -1
    newest = (end - 1) // tab[f + RC_SLIDE]
    oldest = (end - 1 - tab[f + RC_WITHIN]) // tab[f + RC_SLIDE] + 1
    n = tab[f + RC_OPEN]
    return (newest + 1) % n if newest - oldest + 1 < n else -1
