"""Computes the result of each aggregate function from its lanes, in wide floats or exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from runtime.execution.column import Doubles, Mask, from_whole_order
from runtime.execution.rationals import square_root
from runtime.execution.wide_float import STEP
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ExtremeColumn, PartialAggregates
from runtime.language.query import Measure

#: Numbers and a mask of the non-null ones (None: all).
NumberColumn: TypeAlias = tuple[WideFloatColumn, Mask | None]
Exact: TypeAlias = int | Fraction | None


@dataclass(frozen=True)
class Finalizer:
    """Both functions get the lanes in the order in which the aggregate declares them. The only
    lane of COUNT(*) is the count of trends."""

    columns: Callable[[Sequence[WideFloatColumn]], NumberColumn]
    exact: Callable[[Sequence[int | Fraction]], Exact]


def _count(lanes: Sequence[WideFloatColumn]) -> NumberColumn:
    return lanes[0], None


def _sum(lanes: Sequence[WideFloatColumn]) -> NumberColumn:
    total, values = lanes
    return total, _any_value(values)


def _average(lanes: Sequence[WideFloatColumn]) -> NumberColumn:
    total, values = lanes
    # An average lies among its values, so it fits a double.
    return WideFloatColumn.of(np.nan_to_num(total.over(values), copy=False)), _any_value(values)


def _variance(lanes: Sequence[WideFloatColumn]) -> NumberColumn:
    difference, rest, values = _squared_deviation(lanes)
    with np.errstate(all="ignore"):
        square, square_rest = _product(values, values)
        variance = difference / square
        # Adds the remainder of the division, so that the quotient is rounded once.
        back, back_rest = _product(variance, square)
        rest += ((difference - back) - back_rest) - variance * square_rest
        variance += rest / square
    return WideFloatColumn.of(np.nan_to_num(variance, copy=False)), _any_value(lanes[1])


def _deviation(lanes: Sequence[WideFloatColumn]) -> NumberColumn:
    """The root of the variance, rounded once by a step of Newton's method."""
    difference, rest, values = _squared_deviation(lanes)
    with np.errstate(all="ignore"):
        root = np.sqrt(difference) / values
        scaled, scaled_rest = _product(root, values)
        square, square_rest = _product(scaled, scaled)
        rest += ((difference - square) - square_rest) - 2 * scaled * scaled_rest
        root += np.nan_to_num(rest / (2 * scaled * values), copy=False)
    return WideFloatColumn.of(np.nan_to_num(root, copy=False)), _any_value(lanes[1])


def _squared_deviation(lanes: Sequence[WideFloatColumn]) -> tuple[Doubles, Doubles, Doubles]:
    """`n * squares - total**2` as the sum of two doubles, and `n`: the variance is the first
    divided by the square of the second. All lanes are scaled by the same power of two, so that `n`
    is about one. The precision is twice that of doubles, so that cancellation adds no error to the
    rounding errors of the lanes themselves."""
    total, values, squares = (_scaled(lane, lanes[1]) for lane in lanes)
    with np.errstate(all="ignore"):
        one, one_rest = _product(values, squares)
        other, other_rest = _product(total, total)
        high = one - other
        turned = high - one
        rest = ((one - (high - turned)) - (other + turned)) + (one_rest - other_rest)
        difference = high + rest
        rest = (high - difference) + rest
    positive = difference > 0
    return np.where(positive, difference, 0.0), np.where(positive, rest, 0.0), values


def _scaled(numbers: WideFloatColumn, divisor: WideFloatColumn) -> Doubles:
    """Divided by the power of two next to the divisor; the quotients are about averages, so they
    fit doubles."""
    apart = STEP * (numbers.exponent - divisor.exponent) - np.frexp(divisor.mantissa)[1]
    scaled: Doubles = np.ldexp(numbers.mantissa, apart)
    return scaled


def _product(one: Doubles, other: Doubles) -> tuple[Doubles, Doubles]:
    """The exact product as the sum of two doubles (Dekker)."""
    product = one * other
    (a, b), (c, d) = _halves(one), _halves(other)
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(numbers: Doubles) -> tuple[Doubles, Doubles]:
    """Two doubles of 26 bits each (Veltkamp)."""
    moved = numbers * (2.0**27 + 1)
    high = moved - (moved - numbers)
    return high, numbers - high


def _exact_sum(lanes: Sequence[int | Fraction]) -> Exact:
    total, values = lanes
    return total if values else None


def _exact_average(lanes: Sequence[int | Fraction]) -> Exact:
    total, values = lanes
    return Fraction(total) / values if values else None


def _exact_variance(lanes: Sequence[int | Fraction]) -> Fraction | None:
    total, values, squares = lanes
    return Fraction(squares) / values - (Fraction(total) / values) ** 2 if values else None


def _exact_deviation(lanes: Sequence[int | Fraction]) -> Exact:
    variance = _exact_variance(lanes)
    return None if variance is None else Fraction(square_root(variance))


#: By the name of the function. Functions that return a value of the attribute need none.
FINALIZERS: Mapping[str, Finalizer] = {
    "COUNT": Finalizer(_count, lambda lanes: lanes[0]),
    "SUM": Finalizer(_sum, _exact_sum),
    "AVG": Finalizer(_average, _exact_average),
    "VARIANCE": Finalizer(_variance, _exact_variance),
    "STDDEV": Finalizer(_deviation, _exact_deviation),
}


def numbers_of(block: PartialAggregates, measure: Measure) -> NumberColumn:
    """The results of a function that computes numbers."""
    lanes = [_sums(block, place) for place in measure.lanes] or [block.count]
    return FINALIZERS[measure.function.name].columns(lanes)


def extreme_of(block: PartialAggregates, measure: Measure, data_type: pa.DataType) -> pa.Array:
    """The results of a function that returns a value of the attribute, in the attribute's type."""
    lane = block.lanes[measure.lanes[0]]
    assert isinstance(lane, ExtremeColumn)
    if pa.types.is_null(data_type):
        return pa.nulls(len(block))
    values = from_whole_order(lane.order, data_type)
    null = None if lane.valid.all() else ~lane.valid
    return pa.array(values, mask=null).cast(data_type)


def _sums(block: PartialAggregates, place: int) -> WideFloatColumn:
    lane = block.lanes[place]
    assert isinstance(lane, WideFloatColumn)
    return lane


def _any_value(values: WideFloatColumn) -> Mask | None:
    """A mask of the rows with at least one value, from the number of values."""
    return None if values.mantissa.all() else values.mantissa != 0
