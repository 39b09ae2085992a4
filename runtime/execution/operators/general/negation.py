"""Tracks the matches of negated patterns, once for each partition and all its windows.

A NOT is violated in a gap if a complete match lies strictly inside. A gap ends now, so that is the
case if the *latest start* of any complete match seen so far lies after the gap's beginning. `tau`
of a NOT is that latest start; partial matches are represented by the position they have reached and
their latest start. They are kept one by one, as threads, only if a further step depends on more
(values of the last event, or a NOT inside the NOT).

Starts and beginnings are ordinals of events within the partition. A gap that begins with a
group of equal instants begins at the ordinal of its last event. A leading gap begins with its
window: matches count that start with or after the window's first event.

Laws: tau never falls. A partial match whose start is not after tau is irrelevant. Two gaps stay
equivalent if no start of a match, complete or partial, lies between their beginnings.
"""

from __future__ import annotations

from runtime.execution.jit import Int, Truth, compiled
from runtime.execution.operators.general.arena import (
    AT,
    BEGIN,
    BEGUN,
    FAULT,
    LINK,
    MOVES,
    NOBODY,
    NULLS,
    OK,
    OLDEST,
    ORDINAL,
    OUT_OF_MOVES,
    POSITION,
    ROW,
    START,
    TAU,
    THREAD,
    VALUES,
    TrendArena,
    allocate,
    release,
)
from runtime.execution.operators.general.bits import lowest
from runtime.execution.operators.general.events import EVENT_MASK, GeneralEvents
from runtime.execution.operators.general.predicate_vm import adjacent_conditions_hold
from runtime.execution.operators.general.tables import (
    BEFORE,
    GUARD,
    NOT_OF,
    NOTS_AHEAD,
    OPEN,
    PLACE,
    GeneralTables,
)


@compiled
def passes(tables: GeneralTables, guard: Int, alive: Int) -> Truth:
    """Whether some alternative of the guard has no violated NOT."""
    for i in range(tables.guards.shape[1]):  # noqa: SIM110 (compiled code has no generators)
        if tables.guards[guard, i] & ~alive == 0:
            return True
    return False


@compiled
def alive_since(tables: GeneralTables, s: TrendArena, slot: Int, beginning: Int) -> Int:
    """The NOTs that hold in a gap from this beginning until now."""
    alive = 0
    for n in range(tables.nots):
        if s.slots[slot, TAU + n] <= beginning:
            alive |= 1 << n
    return alive


@compiled
def alive_until(tables: GeneralTables, s: TrendArena, slot: Int, beginning: Int, end: Int) -> Int:
    """The same, including the moves of the current group before the ordinal `end`."""
    alive = alive_since(tables, s, slot, beginning)
    for k in range(s.counters[MOVES]):
        q = s.moves[k, POSITION]
        if tables.not_last >> q & 1 and s.moves[k, ORDINAL] < end and s.moves[k, BEGUN] > beginning:
            alive &= ~(1 << tables.at[q, NOT_OF])
    return alive


@compiled
def told_apart(
    tables: GeneralTables, s: TrendArena, slot: Int, nots: Int, one: Int, other: Int
) -> Truth:
    """Whether any of these NOTs can ever distinguish gaps with these beginnings (one < other)."""
    for n in range(tables.nots):
        if nots >> n & 1 and one < s.slots[slot, TAU + n] <= other:
            return True
    rest = tables.negated
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        if nots >> tables.at[p, NOT_OF] & 1 and tables.at[p, PLACE] >= 0:
            known = s.slots[slot, TAU + tables.nots + tables.at[p, PLACE]]
            if not tables.listed >> p & 1:
                if one < known <= other:
                    return True
                continue
            while known != NOBODY:
                if one < s.threads[known, START] <= other:
                    return True
                known = s.threads[known, LINK]
    for k in range(s.counters[MOVES]):
        n = tables.at[s.moves[k, POSITION], NOT_OF]
        if nots >> n & 1 and one < s.moves[k, BEGUN] <= other:
            return True
    return False


@compiled
def stage_moves(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    low: Int,
    high: Int,
    first: Int,
) -> Int:
    """Stages the steps of negated patterns for a group of equal instants, from the state before
    it."""
    s.counters[MOVES] = 0
    for k in range(low, high):
        row = ev.order[k]
        rest = ev.rows[k, EVENT_MASK] & tables.negated
        while rest != 0:
            q = lowest(rest)
            rest &= rest - 1
            ordinal = first + k - low
            start = ordinal
            if not tables.not_first >> q & 1:
                start = _latest_start(tables, s, ev, slot, q, row)
            if start > s.slots[slot, TAU + tables.at[q, NOT_OF]]:
                move = s.counters[MOVES]
                if move == len(s.moves):
                    s.counters[FAULT] = OUT_OF_MOVES
                    return OUT_OF_MOVES
                s.counters[MOVES] = move + 1
                s.moves[move, POSITION] = q
                s.moves[move, BEGUN] = start
                s.moves[move, ROW] = row
                s.moves[move, ORDINAL] = ordinal
    return OK


@compiled
def _latest_start(
    tables: GeneralTables, s: TrendArena, ev: GeneralEvents, slot: Int, q: Int, row: Int
) -> Int:
    """The latest start of the partial matches that this event extends to position q."""
    latest = NOBODY
    rest = tables.at[q, BEFORE]
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        known = s.slots[slot, TAU + tables.nots + tables.at[p, PLACE]]
        if not tables.listed >> p & 1:
            latest = max(latest, known)
            continue
        guard = tables.steps[p, q, GUARD]
        while known != NOBODY:
            if s.threads[known, START] > latest:
                good = True
                if guard != OPEN:
                    alive = alive_since(tables, s, slot, s.threads[known, AT])
                    good = passes(tables, guard, alive)
                if good and adjacent_conditions_hold(tables, s, ev, p, q, s.threads, known, row):
                    latest = s.threads[known, START]
            known = s.threads[known, LINK]
    return latest


@compiled
def commit_moves(
    tables: GeneralTables, s: TrendArena, ev: GeneralEvents, slot: Int, at: Int
) -> None:
    """Applies the staged moves; `at` is the ordinal of the group's last event."""
    whole = 0
    moves = s.counters[MOVES]
    s.counters[MOVES] = 0  # no longer pending
    for k in range(moves):
        q, start = s.moves[k, POSITION], s.moves[k, BEGUN]
        if tables.not_last >> q & 1:
            tau = TAU + tables.at[q, NOT_OF]
            s.slots[slot, tau] = max(s.slots[slot, tau], start)
            whole |= 1 << tables.at[q, NOT_OF]
    if whole != 0 and tables.listed != 0:
        _drop_threads(tables, s, slot, whole, 0)
    for k in range(moves):
        q, start = s.moves[k, POSITION], s.moves[k, BEGUN]
        if tables.at[q, PLACE] >= 0 and start > s.slots[slot, TAU + tables.at[q, NOT_OF]]:
            place = TAU + tables.nots + tables.at[q, PLACE]
            if tables.listed >> q & 1:
                _add_thread(tables, s, ev, slot, q, start, s.moves[k, ROW], at)
            else:
                s.slots[slot, place] = max(s.slots[slot, place], start)


@compiled
def _add_thread(
    tables: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    slot: Int,
    q: Int,
    start: Int,
    row: Int,
    at: Int,
) -> None:
    place = TAU + tables.nots + tables.at[q, PLACE]
    grained = tables.grained >> q & 1
    if not grained and not _worth_keeping(tables, s, slot, q, start, at):
        return
    thread = allocate(s.threads, s.counters, THREAD)
    s.threads[thread, LINK] = s.slots[slot, place]
    s.threads[thread, AT] = at
    s.threads[thread, START] = start
    if grained:
        s.threads[thread, NULLS] = ev.values[row, 0]
        for a in range(tables.kept):
            s.threads[thread, VALUES + a] = ev.values[row, 1 + a]
    s.slots[slot, place] = thread


@compiled
def _worth_keeping(
    tables: GeneralTables, s: TrendArena, slot: Int, q: Int, start: Int, at: Int
) -> Truth:
    """Threads without values differ only by their start and their last event. Drops the threads
    that are no better than this one, and returns whether this one is better than the rest."""
    place = TAU + tables.nots + tables.at[q, PLACE]
    before, thread = NOBODY, s.slots[slot, place]
    while thread != NOBODY:
        after = s.threads[thread, LINK]
        if s.threads[thread, START] <= start:
            if before == NOBODY:
                s.slots[slot, place] = after
            else:
                s.threads[before, LINK] = after
            release(s.threads, s.counters, THREAD, thread)
        else:
            if not told_apart(tables, s, slot, tables.at[q, NOTS_AHEAD], s.threads[thread, AT], at):
                return False
            before = thread
        thread = after
    return True


@compiled
def forget_threads(tables: GeneralTables, s: TrendArena, slot: Int) -> None:
    """After windows have closed, drops the threads that began before the oldest open window."""
    window = s.slots[slot, OLDEST]
    if window == NOBODY:
        _drop_threads(tables, s, slot, -1, -1)
    else:
        _drop_threads(tables, s, slot, -1, s.windows[window, BEGIN])


@compiled
def _drop_threads(tables: GeneralTables, s: TrendArena, slot: Int, nots: Int, oldest: Int) -> None:
    """Drops the threads of these NOTs that started before `oldest` (negative: all) or not after
    tau."""
    rest = tables.listed
    while rest != 0:
        p = lowest(rest)
        rest &= rest - 1
        n = tables.at[p, NOT_OF]
        if not nots >> n & 1 or tables.at[p, PLACE] < 0:
            continue
        place = TAU + tables.nots + tables.at[p, PLACE]
        thread, kept = s.slots[slot, place], NOBODY
        s.slots[slot, place] = NOBODY
        while thread != NOBODY:
            after = s.threads[thread, LINK]
            start = s.threads[thread, START]
            if oldest < 0 or start < oldest or start <= s.slots[slot, TAU + n]:
                release(s.threads, s.counters, THREAD, thread)
            else:
                if kept == NOBODY:
                    s.slots[slot, place] = thread
                else:
                    s.threads[kept, LINK] = thread
                s.threads[thread, LINK] = NOBODY
                kept = thread
            thread = after
