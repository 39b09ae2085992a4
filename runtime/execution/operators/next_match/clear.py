"""What is in a row goes: all that it was when it is opened, partial trends that moved on."""

from __future__ import annotations

from runtime.execution.jit import Int, brief
from runtime.execution.operators.next_match.plan import Plan
from runtime.execution.operators.next_match.window_state import NOTHING, Vectors

ALL = -1


@brief
def clear(plan: Plan, s: Vectors, row: Int, block: Int) -> None:
    width = 1 + plan.sums
    for place in range(block * width, (block + 1) * width):
        s.numbers[row, place] = 0.0
        s.exponents[row, place] = 0
    for place in range(block * plan.extremes, (block + 1) * plan.extremes):
        s.least[row, place] = NOTHING


@brief
def leave(plan: Plan, s: Vectors, row: Int, states: Int) -> None:
    """The partial trends of a set of states."""
    for t in range(plan.states):
        if states >> t & 1 and s.numbers[row, (1 + t) * (1 + plan.sums)] != 0.0:
            clear(plan, s, row, 1 + t)
