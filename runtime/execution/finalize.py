"""How the lanes of each aggregate function become its results, as columns of numbers with a wide
exponent and as exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from runtime.execution.column import Mask, from_whole_order
from runtime.execution.wide_float_column import Numbers
from runtime.execution.window_partials import Block, Extremes
from runtime.language.query import Measure

#: Numbers, and where they are not null (None: everywhere).
NumberColumn: TypeAlias = tuple[Numbers, Mask | None]
Exact: TypeAlias = int | Fraction | float | None


@dataclass(frozen=True)
class Finalizer:
    """Both functions get the lanes in the order in which the function declares them. COUNT(*) has
    the count of trends for its only lane."""

    columns: Callable[[Sequence[Numbers]], NumberColumn]
    exact: Callable[[Sequence[int | Fraction]], Exact]


def _count(lanes: Sequence[Numbers]) -> NumberColumn:
    return lanes[0], None


def _sum(lanes: Sequence[Numbers]) -> NumberColumn:
    total, values = lanes
    return total, _any_value(values)


def _average(lanes: Sequence[Numbers]) -> NumberColumn:
    total, values = lanes
    # An average lies among its values, so it fits a double.
    return Numbers.of(np.nan_to_num(total.over(values), copy=False)), _any_value(values)


def _exact_sum(lanes: Sequence[int | Fraction]) -> Exact:
    total, values = lanes
    return total if values else None


def _exact_average(lanes: Sequence[int | Fraction]) -> Exact:
    total, values = lanes
    return Fraction(total) / values if values else None


#: By the name of the function. Those that return a value of the attribute need none.
FINALIZERS: Mapping[str, Finalizer] = {
    "COUNT": Finalizer(_count, lambda lanes: lanes[0]),
    "SUM": Finalizer(_sum, _exact_sum),
    "AVG": Finalizer(_average, _exact_average),
}


def numbers_of(block: Block, measure: Measure) -> NumberColumn:
    """The results of a function that computes numbers."""
    lanes = [_sums(block, place) for place in measure.lanes] or [block.count]
    return FINALIZERS[measure.function.name].columns(lanes)


def extreme_of(block: Block, measure: Measure, data_type: pa.DataType) -> pa.Array:
    """The results of a function that returns a value of the attribute, in the attribute's type."""
    lane = block.lanes[measure.lanes[0]]
    assert isinstance(lane, Extremes)
    if pa.types.is_null(data_type):
        return pa.nulls(len(block))
    values = from_whole_order(lane.order, data_type)
    null = None if lane.valid.all() else ~lane.valid
    return pa.array(values, mask=null).cast(data_type)


def _sums(block: Block, place: int) -> Numbers:
    lane = block.lanes[place]
    assert isinstance(lane, Numbers)
    return lane


def _any_value(values: Numbers) -> Mask | None:
    """Where there is a value at all, by the number of values."""
    return None if values.mantissa.all() else values.mantissa != 0
