"""The coefficients of the cost model: what the parts of our operators cost, in nanoseconds.

The optimizer hands a policy to the aggregators, which adopt it at the next burst; its version says
which one a decision was made by.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """The defaults are of one server core; another policy can be adopted while running."""

    version: int = 0
    event: float = 2.5  #: to add a waiting event to an operator
    pick: float = 2.0  #: to note that a condition picked an event
    compare: float = 0.4  #: to compare what two conditions picked
    operator: float = 8.0  #: to begin the operator of a class
    apply: float = 12.0  #: to apply an operator to one vector of a query
    scan: float = 1.2  #: for a query alone to look at a waiting event
    cross: float = 8.0  #: to carry one number of a window over a pane
