"""Computes which conditions pick each event, as a bit for each condition on its type."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.batch import Batch, Small
from runtime.execution.column import Doubles, Ints, Mask
from runtime.execution.jit import cached_njit
from runtime.execution.operators.graphlet.kernel_layout import KernelLayout
from runtime.language import ast as s
from runtime.plan.operators.graphlet.eligibility import Condition


class ValueRange(NamedTuple):
    """A condition that is true for the numbers from `low` to `high`, inclusive."""

    attribute: str
    low: float
    high: float


def masks_of(layout: KernelLayout, batch: Batch, local: Ints) -> Ints:
    """0 for events that no query picks. `local` are the group's types by the batch's."""
    types = batch.type_places
    # Types without conditions: one lookup for all of them.
    given = [_unconditional(layout.conditions[type_]) for type_ in layout.types]
    masks = np.array([*given, 0], np.int64)[local][types]  # -1, of other types, is the last one
    for place, type_ in enumerate(layout.types):
        ranges: dict[str, list[tuple[int, ValueRange]]] = {}
        for bit, condition in enumerate(layout.conditions[type_]):
            if not condition:
                continue
            if (found := _range(condition)) and _is_double(batch, found.attribute):
                ranges.setdefault(found.attribute, []).append((bit, found))
            else:
                _set_where(masks, types, local, place, bit, _truth(batch, condition))
        for attribute, members in ranges.items():
            bits = np.array([bit for bit, _ in members])
            low = np.array([each.low for _, each in members])
            high = np.array([each.high for _, each in members])
            _set_within(masks, types, local, place, batch.number(attribute), bits, low, high)
    return masks


def _unconditional(conditions: list[Condition]) -> int:
    """The bits, as a signed word, of conditions that are true for every event."""
    bits = sum(1 << bit for bit, condition in enumerate(conditions) if not condition)
    return bits - 2**64 if bits >= 2**63 else bits


def _truth(batch: Batch, condition: Condition) -> Mask:
    first, *others = condition
    found = batch.truth(first)
    for other in others:
        found = found & batch.truth(other)
    return found


def _is_double(batch: Batch, attribute: str) -> bool:
    return bool(batch.cells(attribute).values.dtype == np.float64)


def _range(condition: Condition) -> ValueRange | None:
    """The range of a comparison with a number that a double can represent, the most common
    condition."""
    if len(condition) != 1:
        return None
    (expression,) = condition
    match expression:
        case s.Compare(symbol, s.Attribute(_, name), s.Literal(value)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            limit = float(value) if abs(value) < 2**1000 else math.inf
            if limit == value and symbol != "!=":
                return ValueRange(name, *_bounds(symbol, limit))
    return None


def _bounds(symbol: str, limit: float) -> tuple[float, float]:
    match symbol:
        case "<":
            return -math.inf, math.nextafter(limit, -math.inf)
        case "<=":
            return -math.inf, limit
        case ">":
            return math.nextafter(limit, math.inf), math.inf
        case ">=":
            return limit, math.inf
        case _:
            return limit, limit


@cached_njit
def _set_where(masks: Ints, types: Small, local: Ints, place: int, bit: int, truth: Mask) -> None:
    for i in range(len(masks)):
        if truth[i] and local[types[i]] == place:
            masks[i] |= np.int64(1) << bit


@cached_njit
def _set_within(
    masks: Ints,
    types: Small,
    local: Ints,
    place: int,
    column: Doubles,
    bits: npt.NDArray[np.int64],
    low: Doubles,
    high: Doubles,
) -> None:
    """Null is NaN, which is in no range."""
    for i in range(len(masks)):
        if local[types[i]] == place:
            x = column[i]
            found = masks[i]
            for j in range(len(bits)):
                within = (low[j] <= x) & (x <= high[j])
                found |= np.int64(within) << bits[j]
            masks[i] = found
