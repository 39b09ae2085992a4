"""The sharing policy: the coefficients of the cost model of a burst, in nanoseconds.

The optimizer sends a policy to the aggregators, which use it from the next burst on. A decision
records the version of the policy that made it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from runtime.errors import HamletError


@dataclass(frozen=True)
class Policy:
    """The defaults are those of one server core. Engines start with a policy measured on the
    machine (`graphlet/calibrate.py`) and can switch to another while they run."""

    version: int = 0
    scan: float = 0.6  #: to scan one event of a burst for one query or class
    operator: float = 12.0  #: to start the operator of a query or class
    pick: float = 0.2  #: to record whether one condition picked an event
    compare: float = 0.4  #: to compare the picks of two conditions
    walk: float = 2.0  #: to find the queries of all classes under one condition
    apply: float = 12.0  #: to apply an operator to one vector of a query
    join: float = 2.0  #: in addition, if the class has several queries
    beside: float = 1.0  #: to apply it to one more contiguous query
    cross: float = 8.0  #: to carry one number of a window over a pane boundary
    decide: float = 3.0  #: to make a decision and count it

    def __post_init__(self) -> None:
        if not isinstance(self.version, int) or not 0 <= self.version < 2**63:
            raise HamletError(f"the policy's version is {self.version!r}, but must be 0 or more")
        for each in fields(self):
            value = getattr(self, each.name)
            if not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise HamletError(
                    f"`{each.name}` of the policy is {value!r}, but must be nanoseconds, 0 or more"
                )
