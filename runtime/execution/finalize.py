"""The aggregates of result rows, made of the lanes of a block."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from runtime.execution.column import Mask, from_whole_order
from runtime.execution.wide_float_column import Numbers
from runtime.execution.window_partials import Block, Extremes
from runtime.language.query import Measure


def numbers_of(block: Block, measure: Measure) -> tuple[Numbers, Mask | None]:
    """COUNT, SUM or AVG, and where it is not null."""
    if not measure.lanes:
        return block.count, None
    first = _sums(block, measure.lanes[0])
    if measure.function not in ("SUM", "AVG"):
        return first, None
    divisor = _sums(block, measure.lanes[1])
    valid = None if divisor.mantissa.all() else divisor.mantissa != 0
    if measure.function == "SUM":
        return first, valid
    # An average lies among its values, so it fits a double.
    return Numbers.of(np.nan_to_num(first.over(divisor), copy=False)), valid


def extreme_of(block: Block, measure: Measure, data_type: pa.DataType) -> pa.Array:
    """MIN or MAX, in the attribute's own type."""
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
