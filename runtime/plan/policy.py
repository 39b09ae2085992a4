"""The coefficients of the cost model: what the parts of our operators cost, in nanoseconds.

The optimizer hands a policy to the aggregators, which adopt it at the next burst; its version says
which one a decision was made by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from runtime.errors import HamletError


@dataclass(frozen=True)
class Policy:
    """The defaults are of one server core. Engines begin with what was measured on the machine
    (`compiled/graphlets/calibrate.py`); another policy can be adopted while they run."""

    version: int = 0
    scan: float = 0.6  #: to scan one event of a burst for one query or class
    operator: float = 12.0  #: to begin the operator of a query or class
    pick: float = 0.2  #: to note what one condition picked of an event
    compare: float = 0.4  #: to compare what two conditions picked
    walk: float = 2.0  #: to look for the queries of a class, of all classes, under one condition
    apply: float = 12.0  #: to apply an operator to one vector of a query
    join: float = 2.0  #: more, where it is of a class of several queries
    beside: float = 1.0  #: to apply it to one more query that lies beside
    cross: float = 8.0  #: to carry one number of a window over a pane
    decide: float = 3.0  #: to take a decision and count it

    def __post_init__(self) -> None:
        if not isinstance(self.version, int) or not 0 <= self.version < 2**63:
            raise HamletError(f"the policy's version is {self.version!r}, but must be 0 or more")
        for each in fields(self):
            value = getattr(self, each.name)
            if not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise HamletError(
                    f"`{each.name}` of the policy is {value!r}, but must be nanoseconds, 0 or more"
                )
