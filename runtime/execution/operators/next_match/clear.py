"""Clears a row when a window opens, or only the partial trends that were extended."""

from __future__ import annotations

from runtime.execution.jit import Int, brief
from runtime.execution.operators.next_match.tables import NextMatchTables
from runtime.execution.operators.next_match.window_state import NOTHING, WindowState

ALL = -1


@brief
def clear(tables: NextMatchTables, s: WindowState, row: Int, block: Int) -> None:
    width = 1 + tables.sums
    for place in range(block * width, (block + 1) * width):
        s.numbers[row, place] = 0.0
        s.exponents[row, place] = 0
    for place in range(block * tables.extremes, (block + 1) * tables.extremes):
        s.least[row, place] = NOTHING


@brief
def leave(tables: NextMatchTables, s: WindowState, row: Int, states: Int) -> None:
    """Removes the partial trends of a set of states."""
    for t in range(tables.states):
        if states >> t & 1 and s.numbers[row, (1 + t) * (1 + tables.sums)] != 0.0:
            clear(tables, s, row, 1 + t)
