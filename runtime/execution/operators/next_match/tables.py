"""The tables by which the next-match kernel reads a query. `window_state.py` has the state.

A state is a position of the pattern. Each event type has one position, so each event has one too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

ALWAYS = -(2**63)


class NextMatchTables(NamedTuple):
    """`before[t]`: the states from which an event enters t, as bits. `befores`: the same as lists,
    that of t from `befores[t]` to `befores[t + 1]`. `begins`, `ends`, `goes_on`: whether a trend
    can begin there, end there, be extended from there. `touches`: by lane and state, whether the
    events of the state have a value for it."""

    is_contiguous: int
    within: int
    slide: int
    since: int
    states: int
    sums: int
    extremes: int
    before: Ints
    befores: Ints
    begins: Ints
    ends: Ints
    goes_on: Ints
    sum_touches: Ints
    extreme_touches: Ints
