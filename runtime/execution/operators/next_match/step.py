"""Processes the events of one instant in one window.

New trends are staged first, from the state before the instant. Then the extended trends
(skip-till-next-match) or all trends (contiguous) are cleared; then the staged ones are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.execution.jit import Int, brief, compiled
from runtime.execution.operators.next_match.clear import ALL, leave
from runtime.execution.operators.next_match.fast_step import step_quickly
from runtime.execution.operators.next_match.tables import NextMatchTables
from runtime.execution.operators.next_match.window_state import IS_LARGE, LAST, NOTHING, WindowState
from runtime.execution.wide_float import add, mul, normal


@compiled
def step(tables: NextMatchTables, s: WindowState, ev: Any, row: Int, first: Int, turn: Int) -> None:
    if tables.is_contiguous:
        if s.rows[row, LAST] != turn - 1:
            leave(tables, s, row, ALL)
        s.rows[row, LAST] = turn
    alone = ev.group[first] == 0 and s.rows[row, IS_LARGE] == 0
    if not (alone and step_quickly(tables, s, ev, row, first)):
        _step(tables, s, ev, row, first)


@brief
def _step(tables: NextMatchTables, s: WindowState, ev: Any, row: Int, first: Int) -> None:
    extended, entered = np.int64(0), np.int64(0)
    i = first
    while i >= 0:
        t = np.int64(ev.states[i])
        if t >= 0:
            if entered >> t & 1 == 0:
                _clear_staged(tables, s, t)
            _stage(tables, s, ev, row, t, i)
            entered |= np.int64(1) << t
            extended |= tables.before[t]
        i = ev.follower[i] if ev.group[first] else -1
    leave(tables, s, row, ALL if tables.is_contiguous else extended)
    for to in range(tables.states):
        if entered >> to & 1:
            if tables.goes_on[to]:
                _enter(tables, s, row, 1 + to, to)
            if tables.ends[to]:
                _enter(tables, s, row, 0, to)


@compiled
def _clear_staged(tables: NextMatchTables, s: WindowState, t: Int) -> None:
    for j in range(1 + tables.sums):
        s.staged[t, j] = 0.0
        s.staged_exponents[t, j] = 0
    for j in range(tables.extremes):
        s.staged_least[t, j] = NOTHING


@compiled
def _stage(tables: NextMatchTables, s: WindowState, ev: Any, row: Int, t: Int, i: Int) -> None:
    """Stages the trends that an event extends, and the one that it begins."""
    width = 1 + tables.sums
    m, e = np.float64(tables.begins[t]), np.int64(0)
    for p in range(tables.states):
        if tables.before[t] >> p & 1:
            base = (1 + p) * width
            if s.numbers[row, base] == 0.0:
                continue
            m, e = add(m, e, s.numbers[row, base], s.exponents[row, base])
            for j in range(1, width):
                x, f = s.numbers[row, base + j], s.exponents[row, base + j]
                _add_staged(s, t, j, x, f)
            for j in range(tables.extremes):
                least = s.least[row, (1 + p) * tables.extremes + j]
                s.staged_least[t, j] = min(s.staged_least[t, j], least)
    if m == 0.0:
        return
    _add_staged(s, t, 0, m, e)
    for j in range(tables.sums):
        x = ev.values[j, i]
        if tables.sum_touches[j, t] and x != 0.0 and x == x:
            x, f = normal(x, np.int64(0))
            x, f = mul(m, e, x, f)
            _add_staged(s, t, 1 + j, x, f)
    for j in range(tables.extremes):
        if tables.extreme_touches[j, t]:
            s.staged_least[t, j] = min(s.staged_least[t, j], ev.orders[j, i])


@compiled
def _add_staged(s: WindowState, t: Int, j: Int, m: Any, e: Int) -> None:
    s.staged[t, j], s.staged_exponents[t, j] = add(s.staged[t, j], s.staged_exponents[t, j], m, e)


@compiled
def _enter(tables: NextMatchTables, s: WindowState, row: Int, block: Int, t: Int) -> None:
    if s.staged[t, 0] == 0.0:
        return
    base = block * (1 + tables.sums)
    for j in range(1 + tables.sums):
        m, e = s.numbers[row, base + j], s.exponents[row, base + j]
        m, e = add(m, e, s.staged[t, j], s.staged_exponents[t, j])
        s.numbers[row, base + j], s.exponents[row, base + j] = m, e
        if e != 0:
            s.rows[row, IS_LARGE] = 1
    for j in range(tables.extremes):
        place = block * tables.extremes + j
        s.least[row, place] = min(s.least[row, place], s.staged_least[t, j])
