"""The events of one instant in one window. What they create is staged first, from the vector before
them; then what they extend leaves (skip-till-next-match), or all of it (contiguous); then what is
staged enters."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.execution.jit import Int, brief, compiled
from runtime.execution.operators.next_match.clear import ALL, leave
from runtime.execution.operators.next_match.fast_step import step_quickly
from runtime.execution.operators.next_match.plan import Plan
from runtime.execution.operators.next_match.window_state import IS_LARGE, LAST, NOTHING, Vectors
from runtime.execution.wide_float import add, mul, normal


@compiled
def step(plan: Plan, s: Vectors, ev: Any, row: Int, first: Int, turn: Int) -> None:
    if plan.is_contiguous:
        if s.rows[row, LAST] != turn - 1:
            leave(plan, s, row, ALL)
        s.rows[row, LAST] = turn
    alone = ev.group[first] == 0 and s.rows[row, IS_LARGE] == 0
    if not (alone and step_quickly(plan, s, ev, row, first)):
        _step(plan, s, ev, row, first)


@brief
def _step(plan: Plan, s: Vectors, ev: Any, row: Int, first: Int) -> None:
    extended, entered = np.int64(0), np.int64(0)
    i = first
    while i >= 0:
        t = np.int64(ev.states[i])
        if t >= 0:
            if entered >> t & 1 == 0:
                _clear_staged(plan, s, t)
            _stage(plan, s, ev, row, t, i)
            entered |= np.int64(1) << t
            extended |= plan.before[t]
        i = ev.follower[i] if ev.group[first] else -1
    leave(plan, s, row, ALL if plan.is_contiguous else extended)
    for to in range(plan.states):
        if entered >> to & 1:
            if plan.goes_on[to]:
                _enter(plan, s, row, 1 + to, to)
            if plan.ends[to]:
                _enter(plan, s, row, 0, to)


@compiled
def _clear_staged(plan: Plan, s: Vectors, t: Int) -> None:
    for j in range(1 + plan.sums):
        s.staged[t, j] = 0.0
        s.staged_exponents[t, j] = 0
    for j in range(plan.extremes):
        s.staged_least[t, j] = NOTHING


@compiled
def _stage(plan: Plan, s: Vectors, ev: Any, row: Int, t: Int, i: Int) -> None:
    """The trends that an event extends, each longer by it; and the one that it begins."""
    width = 1 + plan.sums
    m, e = np.float64(plan.begins[t]), np.int64(0)
    for p in range(plan.states):
        if plan.before[t] >> p & 1:
            base = (1 + p) * width
            if s.numbers[row, base] == 0.0:
                continue
            m, e = add(m, e, s.numbers[row, base], s.exponents[row, base])
            for j in range(1, width):
                x, f = s.numbers[row, base + j], s.exponents[row, base + j]
                _add_staged(s, t, j, x, f)
            for j in range(plan.extremes):
                least = s.least[row, (1 + p) * plan.extremes + j]
                s.staged_least[t, j] = min(s.staged_least[t, j], least)
    if m == 0.0:
        return
    _add_staged(s, t, 0, m, e)
    for j in range(plan.sums):
        x = ev.values[j, i]
        if plan.sum_touches[j, t] and x != 0.0 and x == x:
            x, f = normal(x, np.int64(0))
            x, f = mul(m, e, x, f)
            _add_staged(s, t, 1 + j, x, f)
    for j in range(plan.extremes):
        if plan.extreme_touches[j, t]:
            s.staged_least[t, j] = min(s.staged_least[t, j], ev.orders[j, i])


@compiled
def _add_staged(s: Vectors, t: Int, j: Int, m: Any, e: Int) -> None:
    s.staged[t, j], s.staged_exponents[t, j] = add(s.staged[t, j], s.staged_exponents[t, j], m, e)


@compiled
def _enter(plan: Plan, s: Vectors, row: Int, block: Int, t: Int) -> None:
    if s.staged[t, 0] == 0.0:
        return
    base = block * (1 + plan.sums)
    for j in range(1 + plan.sums):
        m, e = s.numbers[row, base + j], s.exponents[row, base + j]
        m, e = add(m, e, s.staged[t, j], s.staged_exponents[t, j])
        s.numbers[row, base + j], s.exponents[row, base + j] = m, e
        if e != 0:
            s.rows[row, IS_LARGE] = 1
    for j in range(plan.extremes):
        place = block * plan.extremes + j
        s.least[row, place] = min(s.least[row, place], s.staged_least[t, j])
