"""The steps of the merged template for an event and a burst, read from tables.

`codegen.py` rewrites this file for a given workload: there, offsets in the row, predecessors, lanes
and loops are constants.
"""

from __future__ import annotations

from runtime.execution.jit import inlined

from .interpreted_step import add_to_burst, apply_agreed, enter

__all__ = ["add_to_burst", "apply_agreed", "at_once", "enter"]


@inlined
def at_once(t):
    """Whether events of a type are applied one by one, because bursts would not help."""
    return False
