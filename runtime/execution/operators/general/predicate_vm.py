"""Runs the programs of adjacent conditions, with the semantics of `language/row_eval.py`."""

from __future__ import annotations

from math import floor

import numpy as np

from runtime.execution.jit import Double, Int, Truth, compiled
from runtime.execution.operators.general.arena import NULLS, VALUES, Ints, TrendArena
from runtime.execution.operators.general.bits import as_double, as_word
from runtime.execution.operators.general.events import GeneralEvents
from runtime.execution.operators.general.predicate_compiler import (
    ADD,
    AND,
    COMPARE,
    CONSTANT,
    DIVIDE,
    DOUBLE,
    HIGH,
    IS_NULL,
    KEPT,
    LATER,
    MULTIPLY,
    NEGATE,
    NOT,
    NULL,
    OR,
    SUBTRACT,
    TEXT,
    TO_DOUBLE,
)
from runtime.execution.operators.general.tables import PAIRS, PAIRS_END, SIMPLE, GeneralTables

TOP = np.int64(-(2**63))
UNLIKE = 2


@compiled
def adjacent_conditions_hold(
    plan: GeneralTables,
    s: TrendArena,
    ev: GeneralEvents,
    p: Int,
    q: Int,
    kept: Ints,
    i: Int,
    row: Int,
) -> Truth:
    """Whether all conditions on a step from p to q hold. `kept[i]` has the earlier event."""
    for c in range(plan.steps[p, q, PAIRS], plan.steps[p, q, PAIRS_END]):
        if plan.conditions[c, 0] == SIMPLE:
            good = _simple(plan, ev, c, kept, i, row)
        else:
            good = _program(plan, s, ev, c, kept, i, row)
        if not good:
            return False
    return True


@compiled
def _simple(plan: GeneralTables, ev: GeneralEvents, c: Int, kept: Ints, i: Int, row: Int) -> Truth:
    """An attribute of one event compared with one of the other."""
    a, b = plan.conditions[c, 2], plan.conditions[c, 3]
    if kept[i, NULLS] >> a & 1 or ev.values[row, 0] >> b & 1:
        return False
    kind, other = plan.conditions[c, 4], plan.conditions[c, 5]
    side = _side(kind, kept[i, VALUES + a], other, ev.values[row, 1 + b], ev.ranks)
    return _test(plan.conditions[c, 1], side)


@compiled
def _program(
    plan: GeneralTables, s: TrendArena, ev: GeneralEvents, c: Int, kept: Ints, i: Int, row: Int
) -> Truth:
    code, registers = plan.code, s.registers
    for at in range(plan.conditions[c, 1], plan.conditions[c, 2]):
        op, to, a, b = code[at, 0], code[at, 1], code[at, 2], code[at, 3]
        if op == KEPT:
            registers[to, 0] = kept[i, VALUES + a]
            registers[to, 1] = kept[i, NULLS] >> a & 1
        elif op == LATER:
            registers[to, 0] = ev.values[row, 1 + a]
            registers[to, 1] = ev.values[row, 0] >> a & 1
        elif op == COMPARE:
            side = _side(b, registers[to, 0], code[at, 4], registers[to + 1, 0], ev.ranks)
            registers[to, 0] = _test(a, side)
            registers[to, 1] |= registers[to + 1, 1]
        elif op in (AND, OR):
            _join(registers, to, op == OR)
        elif op == CONSTANT:
            registers[to, 0] = a
            registers[to, 1] = 0
        elif op == NULL:
            registers[to, 0] = 0
            registers[to, 1] = 1
        elif op == NOT:
            registers[to, 0] = 1 - registers[to, 0]
        elif op == IS_NULL:
            registers[to, 0] = registers[to, 1]
            registers[to, 1] = 0
        elif op == TO_DOUBLE:
            registers[to, 0] = as_word(_double(b, registers[to, 0]))
        elif op == NEGATE:
            registers[to, 0] = as_word(-as_double(registers[to, 0]))
        else:
            _arithmetic(registers, to, op)
    return registers[0, 1] == 0 and registers[0, 0] != 0


@compiled
def _join(registers: Ints, to: Int, decisive: Truth) -> None:
    """One false part decides AND, one true part OR; otherwise unknown if any part is."""
    one = registers[to, 1] == 0 and (registers[to, 0] != 0) == decisive
    other = registers[to + 1, 1] == 0 and (registers[to + 1, 0] != 0) == decisive
    if one or other:
        registers[to, 0] = decisive
        registers[to, 1] = 0
    else:
        registers[to, 0] = not decisive
        registers[to, 1] |= registers[to + 1, 1]


@compiled
def _double(kind: Int, word: Int) -> Double:
    return np.float64(np.uint64(word ^ TOP)) if kind == HIGH else np.float64(word)


@compiled
def _arithmetic(registers: Ints, to: Int, op: Int) -> None:
    """In doubles. Undefined results are null, as are results of nulls."""
    registers[to, 1] |= registers[to + 1, 1]
    if registers[to, 1]:
        return
    x, y = as_double(registers[to, 0]), as_double(registers[to + 1, 0])
    if op == ADD:
        x = x + y
    elif op == SUBTRACT:
        x = x - y
    elif op == MULTIPLY:
        x = x * y
    elif y == 0.0:
        x = np.nan
    elif op == DIVIDE:
        x = x / y
    else:
        x = _modulo(x, y)
    registers[to, 0] = as_word(x)
    registers[to, 1] = np.isnan(x)


@compiled
def _modulo(x: Double, y: Double) -> Double:
    """Like in Python: with the sign of the divisor."""
    if np.isinf(x):
        return np.nan
    rest = np.fmod(x, y)
    if rest != 0.0 and (rest < 0.0) != (y < 0.0):
        rest += y
    return rest


@compiled
def _test(symbol: Int, side: Int) -> Truth:
    if side == UNLIKE:
        return symbol == 1
    if symbol == 0:
        return side == 0
    if symbol == 1:
        return side != 0
    if symbol == 2:
        return side < 0
    if symbol == 3:
        return side <= 0
    if symbol == 4:
        return side > 0
    return side >= 0


@compiled
def _side(kind: Int, i: Int, other: Int, j: Int, ranks: Ints) -> Int:
    """-1, 0 or 1 as the first value is below, at or above the second, exactly."""
    if kind == other:
        if kind == DOUBLE:
            return _sign(as_double(i), as_double(j))
        if kind == TEXT:
            return _sign(ranks[i], ranks[j])
        return _sign(i, j)
    if kind == TEXT or other == TEXT:
        return UNLIKE
    if kind == DOUBLE:
        return -_against_double(other, j, as_double(i))
    if other == DOUBLE:
        return _against_double(kind, i, as_double(j))
    if kind == HIGH:
        return np.int64(1) if i >= 0 else _sign(i ^ TOP, j)
    return np.int64(-1) if j >= 0 else _sign(i, j ^ TOP)


@compiled
def _sign(x: Double, y: Double) -> Int:
    return np.int64(x > y) - np.int64(x < y)


@compiled
def _against_double(kind: Int, i: Int, y: Double) -> Int:
    if kind == HIGH:
        if y >= 2.0**63:
            return np.int64(-1) if i < 0 else _whole_against_double(i, y - 2.0**63)
        if i >= 0:
            return np.int64(1)
        i ^= TOP
    return _whole_against_double(i, y)


@compiled
def _whole_against_double(i: Int, y: Double) -> Int:
    if y >= 2.0**63:
        return np.int64(-1)
    if y < -(2.0**63):
        return np.int64(1)
    below = np.int64(floor(y))
    if i == below:
        return np.int64(-1) if np.float64(below) < y else np.int64(0)
    return _sign(i, below)
