"""The coefficients of the planners' cost model, in nanoseconds.

`policy.py` has the coefficients of the decision for each burst. These are one level above: the cost
of a query in an operator, whatever is decided there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CostCoefficients:
    """The defaults are those of one server core; the optimizer fits them to observations."""

    event: float = 12.0  #: an operator reads an event, whether it matches or not
    enter: float = 20.0  #: a burst enters contiguous states
    state: float = 0.3  #: one number of these states is updated
    repeat: float = 4.0  #: the same, if the state repeats or has several predecessors
    settling: float = 170.0  #: a shared sub-pattern is applied to contiguous queries
    settle: float = 2.5  #: one product of that application
