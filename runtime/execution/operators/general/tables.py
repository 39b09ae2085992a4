"""The tables by which the general kernel reads a query. `arena.py` has the state.

A position is a bit: `follow[p]` are the positions that may come after p, etc. A guard is a number
(OPEN: none) with a row of alternatives, each the bits of the NOTs that must hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.language.aggregates import LaneInput

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

ANY, NEXT, CONTIGUOUS = range(3)
SUM, LEAST, GREATEST = range(3)
NONE = OPEN = -1
SIMPLE, PROGRAM = range(2)
NEVER = -(2**63)

# Columns of `at`, by position.
(
    FOLLOW,
    BEFORE,
    FIRST_GUARD,
    LAST_GUARD,
    NOTS_AHEAD,
    NOTS_AFTER,
    NOT_OF,
    PLACE,
    PAIRED_WITH,
    ROW_OF,
) = range(10)
# Columns of `steps`, by two positions.
GUARD, PAIRS, PAIRS_END = range(3)
# Columns of `lane`.
FOLD, TOUCH, AS_TEXT = range(3)


class GeneralTables(NamedTuple):
    """`subsets`: whether bindings are tracked together or one by one. `waking`: positions whose
    events can open a window: a first event, or one that a leading NOT forbids. `listed`: positions
    under NOT whose partial matches differ by more than their start. `grained`: positions whose
    event's values are needed later. `kept`: the number of those values. `awaiting`: whether a
    trend can end with a NOT."""

    semantics: int
    subsets: int
    conjunctive: int
    least: int
    within: int
    slide: int
    counted: int
    since: int
    positive: int
    negated: int
    waking: int
    first: int
    last: int
    one_side: int
    other_side: int
    nots: int
    not_first: int
    not_last: int
    listed: int
    places: int
    grained: int
    registers: int
    kept: int
    lanes: int
    rows: int
    awaiting: int
    at: Ints
    steps: Ints
    guards: Ints
    conditions: Ints
    code: Ints
    lane: Ints


class InputColumns(NamedTuple):
    """The columns of the events that the kernel reads, by name."""

    values: tuple[tuple[str, int], ...]
    lanes: tuple[tuple[LaneInput, int], ...]
    texts: tuple[tuple[int, str], ...]
