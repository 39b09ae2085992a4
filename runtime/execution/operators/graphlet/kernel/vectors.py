"""The vectors of a form: one for each open window, or the columns of the pane's operator."""

from __future__ import annotations

from runtime.execution.jit import brief, inlined

from .record import (
    END,
    F_COLUMNS,
    F_EVEN,
    F_OPEN,
    F_SLIDE,
    F_STATES,
    F_WINDOWS,
    F_WITHIN,
    FLAGS,
    PANE_MODE,
    SLIDING,
)


@inlined
def vectors(h, s, f):
    """Where the vectors of a form begin, how many there are, and the one that is idle (-1)."""
    tab = h.tab
    if SLIDING:
        if h.ri[s, FLAGS] & PANE_MODE and tab[f + F_COLUMNS] > 0:
            return tab[f + F_COLUMNS], tab[f + F_STATES] + 1, -2
        return tab[f + F_WINDOWS], tab[f + F_OPEN], idle_window(h, h.ri[s, END], f)
    return tab[f + F_WINDOWS], 1, -1


@inlined
def vectors_of(h, s, f):
    """How many there are."""
    tab = h.tab
    if SLIDING:
        if h.ri[s, FLAGS] & PANE_MODE and tab[f + F_COLUMNS] > 0:
            return tab[f + F_STATES] + 1
        return tab[f + F_OPEN]
    return 1


@inlined
def start_of(v, idle):
    """Whether trends may start in a vector: not in the idle one, of columns (-2) only in the
    first."""
    if SLIDING:
        return 0.0 if v == idle or (idle == -2 and v > 0) else 1.0
    return 1.0


@brief
def idle_window(h, end, f):
    """The place of a window that has ended before this pane and has no successor yet, or -1;
    there is one at times where the slide does not divide the window."""
    tab = h.tab
    if tab[f + F_EVEN]:
        return -1
    newest = (end - 1) // tab[f + F_SLIDE]
    oldest = (end - 1 - tab[f + F_WITHIN]) // tab[f + F_SLIDE] + 1
    n = tab[f + F_OPEN]
    return (newest + 1) % n if newest - oldest + 1 < n else -1
