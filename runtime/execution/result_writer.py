"""Writes merged partial aggregates as result tables of doubles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.execution.column import Ints, Mask
from runtime.execution.finalize import extreme_of, numbers_of
from runtime.execution.having import Having
from runtime.execution.result_order import ResultOrder, reorder
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import ExtremeColumn, LaneColumn, PartialAggregates
from runtime.language.query import Fold, OutputColumn, Query
from runtime.types.time_codec import TimeCodec


class FloatWriter:
    """Writes the result rows of one query. `types` are those of the attributes."""

    def __init__(self, query: Query, types: Mapping[str, pa.DataType]) -> None:
        self._query = query
        self._types = types
        self._having = None if query.having is None else Having(query, types)

    def empty(self) -> PartialAggregates:
        """A block without rows."""
        none = WideFloatColumn.zeros(0)
        lanes: list[LaneColumn] = [
            none
            if lane.fold is Fold.SUM
            else ExtremeColumn(np.zeros(0, np.int64), np.zeros(0, np.bool_))
            for lane in self._query.lanes
        ]
        groups = [pa.array([], self._type(name)) for name in self._query.group_by]
        return PartialAggregates(self._query.name, np.zeros(0, np.int64), groups, none, lanes)

    def table(self, merged: PartialAggregates | None, clock: TimeCodec | None) -> pa.Table:
        """The rows that meet HAVING, in order of window, then group, null first."""
        block = self.empty() if merged is None else merged
        if self._having is not None and len(block):
            kept = self._having.keeps(block)
            block = block if kept.all() else block.take(np.flatnonzero(kept))
        fields: dict[str, pa.Array] = {}
        for column in self._query.columns:
            fields |= self._column(column, block)
        order = ResultOrder(block.windows, block.groups).order()
        windows = block.windows if order is None else block.windows[order]
        fields = {name: reorder(column, order) for name, column in fields.items()}
        return pa.table({**self._bounds(windows, clock), **fields})

    def _type(self, attribute: str | None) -> pa.DataType:
        return self._types.get(attribute, pa.null()) if attribute is not None else pa.int64()

    def _bounds(self, windows: Ints, clock: TimeCodec | None) -> dict[str, pa.Array]:
        start, end = self._query.window.bounds(windows, clock)
        return {"window_start": start, "window_end": end}

    def _column(self, column: OutputColumn, block: PartialAggregates) -> dict[str, pa.Array]:
        if column.group is not None:
            return {column.name: block.groups[self._query.group_by.index(column.group)]}
        assert column.measure is not None
        measure = self._query.measures[column.measure]
        if measure.returns_attribute:
            attribute = self._query.lanes[measure.lanes[0]].attribute
            return {column.name: extreme_of(block, measure, self._type(attribute))}
        return _doubles(column.name, *numbers_of(block, measure))


def _doubles(name: str, numbers: WideFloatColumn, valid: Mask | None) -> dict[str, pa.Array]:
    """Doubles; a second column has the logarithms of those beyond their range."""
    null = None if valid is None else ~valid
    rounded = numbers.doubles()
    columns = {name: pa.array(rounded, mask=null)}
    if numbers.large:
        beyond = np.isinf(rounded) if valid is None else np.isinf(rounded) & valid
        if beyond.any():
            columns[f"{name}_log2"] = pa.array(numbers.log2(), mask=~beyond)
    return columns
