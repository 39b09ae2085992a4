"""What evaluating a plan costs, in nanoseconds: the coefficients of the planners' model.

Those of a burst's decision are in `sharing/policy.py`; these are above it: what it costs that a
query is in a run, whatever is decided there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prices:
    """The defaults are of one server core; the optimizer fits them to what it hears."""

    event: float = 5.0  #: an event goes through a run, whether it matches or not
    enter: float = 20.0  #: a burst enters states that lie side by side
    state: float = 1.5  #: for each of these, and each of its open windows
    settle: float = 4.0  #: one product, where a longer part is applied to a query
