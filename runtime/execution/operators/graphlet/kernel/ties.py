"""Processes events of one partition with equal times: all read the numbers from before them."""

from __future__ import annotations

from runtime.execution.jit import brief
from runtime.execution.wide_float import add

from .numbers import grow
from .operators import attributes, extremes
from .parts import settle_parts
from .record import (
    ATTRS,
    BUFFERS,
    BURSTS,
    E_BIT,
    E_FIRST,
    E_LANES,
    E_LOOP,
    E_MINS,
    E_PLACE,
    E_PREDS,
    E_PREDS_END,
    E_QUERIES,
    E_ROW_CLASS,
    E_SIZE,
    E_STATE,
    END,
    EVENTS_OF,
    FLAGS,
    LAST,
    MINS,
    NEUTRAL,
    PANE_MODE,
    PARTS,
    RC_BLOCK,
    RC_LANES,
    RC_MINS,
    RC_OPEN,
    RC_QUERIES,
    RC_SIZE,
    RC_SLIDE,
    RC_WINDOWS,
    RC_WITHIN,
    SLIDING,
    STATES_AT,
    T_TIED,
    W_BEFORE,
    W_BEFORE_E,
    W_LEAST,
    W_PANE,
    W_PARTS,
)
from .vectors import start_of, vectors
from .windows import cross_panes, roll, row_classes


@brief
def together(h, s, first, times, local, types, values, keys, masks, follower):
    """Processes a group of equal time: all its events read the numbers from before it.

    If windows count events, a group may span the end of a pane; then its events update windows one
    by one, those of the next pane after the windows in between have closed."""
    ri, ex, wi = h.ri, h.ex, h.wi
    if PARTS:
        settle_parts(h, s, ri[s, FLAGS])
    last = first
    while follower[last] >= 0:
        last = follower[last]
    if SLIDING and times[last] >= ri[s, END]:
        cross_panes(h, s)
        ri[s, FLAGS] &= ~PANE_MODE
    before, before_e = wi[W_BEFORE], wi[W_BEFORE_E]
    for w in range(STATES_AT, ri.shape[1]):
        wi[before + w] = ri[s, w]
        wi[before_e + w] = ex[s, w]
    while first >= 0:
        if times[first] >= ri[s, END]:
            leave_pane(h, s, times[first])
        step_pane(h, s, first, times, local, types, values, keys, masks, follower)
        end = ri[s, END]
        while first >= 0 and times[first] < end:
            first = follower[first]


@brief
def leave_pane(h, s, time):
    """Leaves a pane within a group: closed windows are also cleared in the numbers before it."""
    ri, tab, wi = h.ri, h.tab, h.wi
    end = ri[s, END]
    roll(h, s, time)
    ri[s, FLAGS] &= ~PANE_MODE
    ri[s, END] = (time // wi[W_PANE] + 1) * wi[W_PANE]
    before, before_e = wi[W_BEFORE], wi[W_BEFORE_E]
    begin, last = row_classes(h)
    for f in range(begin, last, RC_SIZE):
        within, slide = tab[f + RC_WITHIN], tab[f + RC_SLIDE]
        k = (end - 1 - within) // slide + 1
        while k <= (end - 1) // slide and k * slide + within <= time:
            step = tab[f + RC_OPEN]
            at = tab[f + RC_WINDOWS] + k % step
            for w in range(at, at + step * tab[f + RC_BLOCK], step):
                wi[before + w] = ri[s, w]
                wi[before_e + w] = 0
            k += 1


@brief
def step_pane(h, s, first, times, local, types, values, keys, masks, follower):
    """Processes the events of a group from its first in this pane on."""
    ri, tab, wf = h.ri, h.tab, h.wf
    i = first
    while i >= 0 and times[i] < ri[s, END]:
        t = local[types[i]]
        if t >= 0 and not seen_before(t, first, i, local, types, follower):
            at = tab[T_TIED] + 2 * t
            for e in range(tab[at], tab[at + 1], E_SIZE):
                operator_of_group(h, s, e, t, i, times, local, types, values, keys, masks, follower)
                if wf[W_PARTS + EVENTS_OF] > 0.0:
                    for place in range(tab[e + E_QUERIES]):
                        step_group(h, s, e, tab[e + E_PLACE] + place)
        i = follower[i]
    if SLIDING:
        ri[s, BURSTS] += 1
        ri[s, LAST] = ri[s, END]


@brief
def seen_before(t, first, i, local, types, follower):
    while first != i:
        if local[types[first]] == t:
            return True
        first = follower[first]
    return False


@brief
def operator_of_group(h, s, e, t, i, times, local, types, values, keys, masks, follower):
    """The operator of the group's events of a type in this pane that an entry's condition
    picked."""
    tab, wi, wf = h.tab, h.wi, h.wf
    end = h.ri[s, END]
    for j in range(2 + 2 * ATTRS):
        wf[W_PARTS + j] = 0.0
    for j in range(MINS):
        wi[W_LEAST + j] = NEUTRAL
    while i >= 0 and times[i] < end:
        if local[types[i]] == t and (not BUFFERS or masks[i] >> tab[e + E_BIT] & 1):
            wf[W_PARTS + EVENTS_OF] += 1.0
            first, number = attributes(h, t)
            for j in range(number):
                x = values[tab[first + j], i]
                if x == x:
                    wf[W_PARTS + 2 + 2 * j] += x
                    wf[W_PARTS + 3 + 2 * j] += 1.0
            first, number = extremes(h, t)
            for j in range(number):
                wi[W_LEAST + j] = min(wi[W_LEAST + j], keys[tab[first + j], i])
        i = follower[i]


@brief
def step_group(h, s, e, place):
    """N += m*u and A += m*v + s*u, with u and v from before the group."""
    ri, tab, wi, wf = h.ri, h.tab, h.wi, h.wf
    f = tab[e + E_ROW_CLASS]
    at, step, idle = vectors(h, s, f)
    lanes, side = tab[f + RC_LANES], step * tab[f + RC_QUERIES]
    begin, end = tab[e + E_PREDS], tab[e + E_PREDS_END]
    loop = tab[e + E_LOOP] != 0
    old, old_e = wi[W_BEFORE], wi[W_BEFORE_E]
    for v in range(step):
        base = at + step * place + v
        here = base + step * tab[e + E_STATE]
        um, ue = 0.0, 0
        if loop:
            um, ue = wf[old + here], wi[old_e + here]
        if tab[e + E_FIRST] != 0:
            um, ue = add(um, ue, start_of(v, idle), 0)
        for p in range(begin, end):
            um, ue = add(um, ue, wf[old + base + step * tab[p]], wi[old_e + base + step * tab[p]])
        if um == 0.0:
            continue
        grow(h, s, here, wf[W_PARTS + EVENTS_OF], um, ue)
        for j in range(lanes):
            lane = (1 + j) * side
            wm, we = 0.0, 0
            if loop:
                wm, we = wf[old + here + lane], wi[old_e + here + lane]
            for p in range(begin, end):
                there = base + step * tab[p] + lane
                wm, we = add(wm, we, wf[old + there], wi[old_e + there])
            grow(h, s, here + lane, wf[W_PARTS + EVENTS_OF], wm, we)
            grow(h, s, here + lane, wf[W_PARTS + tab[e + E_LANES + j]], um, ue)
        if MINS:
            for j in range(tab[f + RC_MINS]):
                lane = (1 + lanes + j) * side
                part = tab[e + E_MINS + j]
                low = wi[W_LEAST + part] if part >= 0 else NEUTRAL
                if loop:
                    low = min(low, wi[old + here + lane])
                for p in range(begin, end):
                    low = min(low, wi[old + base + step * tab[p] + lane])
                ri[s, here + lane] = min(ri[s, here + lane], low)
