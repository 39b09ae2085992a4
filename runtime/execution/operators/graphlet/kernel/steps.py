"""What the merged template does with an event and a burst, read from tables.

`steps.py` of the folder above writes this file anew for a workload that is known: there, places in
the row, predecessors, lanes and loops are constants.
"""

from __future__ import annotations

from runtime.execution.jit import inlined

from .interpreted_step import apply_agreed, enter, take

__all__ = ["apply_agreed", "at_once", "enter", "take"]


@inlined
def at_once(t):
    """Whether events of a type are applied as they come: bursts of them would gain nothing."""
    return False
