"""What evaluating a plan costs, in nanoseconds: the coefficients of the planners' model.

Those of a burst's decision are in `sharing/policy.py`; these are above it: what it costs that a
query is in a run, whatever is decided there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CostCoefficients:
    """The defaults are of one server core; the optimizer fits them to what it hears."""

    event: float = 12.0  #: an event goes through a run, whether it matches or not
    enter: float = 20.0  #: a burst enters states that lie side by side
    state: float = 0.3  #: a number of these is stepped
    repeat: float = 4.0  #: the same, where the state repeats or has several before it
    settling: float = 170.0  #: a longer part is applied to queries that lie side by side
    settle: float = 2.5  #: one product, where that is done
