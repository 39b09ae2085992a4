"""Merges the totals of partitions into result rows, and writes them as Arrow tables.

The totals of all partitions with the same GROUP-BY values are added; only then are averages
computed, HAVING applied and numbers rounded, once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import pyarrow as pa

from runtime.execution.exact.executor import WindowTotals
from runtime.execution.exact.lanes import add_lanes
from runtime.execution.exact.trends import Totals
from runtime.execution.finalize import FINALIZERS
from runtime.execution.rationals import as_double, decimal_text, log2, rational
from runtime.language import ast as s
from runtime.language.aggregates import ResultKind
from runtime.language.query import Measure, OutputColumn, Query
from runtime.language.row_eval import Function, compile_expression
from runtime.types.time_codec import TimeCodec

Group: TypeAlias = tuple[int, tuple[Any, ...]]
Row: TypeAlias = tuple[int, tuple[Any, ...], list[Any]]


class TotalsMerge:
    """Sums the totals of partitions until a window's rows are read."""

    def __init__(self, queries: Iterable[Query]) -> None:
        self._folds = {q.name: tuple(lane.fold for lane in q.lanes) for q in queries}
        self._totals: dict[str, dict[Group, Totals]] = {name: {} for name in self._folds}

    def add(self, closed: Iterable[WindowTotals]) -> None:
        for query, window, group, totals in closed:
            known = self._totals[query].get((window, group))
            if known is None:
                self._totals[query][window, group] = totals
            else:
                add_lanes(self._folds[query], known.lanes, totals.lanes)
                merged = Totals(known.count + totals.count, known.lanes)
                self._totals[query][window, group] = merged

    def drain(self, query: str) -> dict[Group, Totals]:
        totals, self._totals[query] = self._totals[query], {}
        return totals


class ExactWriter:
    """Writes the result rows of one query. `types` are those of the attributes."""

    def __init__(self, query: Query, types: Mapping[str, pa.DataType], numeric: str) -> None:
        self._query = query
        self._types = types
        self._exact = numeric == "exact"
        self._having = _having(query)
        places = range(len(query.lanes))
        self._fractional = {place for place in places if pa.types.is_floating(self._type(place))}

    def table(self, merged: Mapping[Group, Totals], clock: TimeCodec | None) -> pa.Table:
        rows = [
            (window, group, values)
            for (window, group), totals in merged.items()
            if self._keep(group, values := self._values(totals))
        ]
        rows.sort(key=lambda row: (row[0], [(value is not None, value) for value in row[1]]))
        fields: dict[str, pa.Array] = self._bounds([window for window, _, _ in rows], clock)
        for column in self._query.columns:
            fields |= self._column(column, rows)
        return pa.table(fields)

    # ---- values ----------------------------------------------------------------------------

    def _values(self, totals: Totals) -> list[Any]:
        return [self._value(measure, totals) for measure in self._query.measures]

    def _value(self, measure: Measure, totals: Totals) -> Any:
        """The exact value: an integer, a rational, an attribute's own value, or None."""
        if measure.returns_attribute:
            return totals.lanes[measure.lanes[0]]
        lanes = [self._lane(place, totals) for place in measure.lanes] or [totals.count]
        return FINALIZERS[measure.function.name].exact(lanes)

    def _lane(self, place: int, totals: Totals) -> int | Fraction:
        power = self._query.lanes[place].input.power if place in self._fractional else 0
        total: int = totals.lanes[place]
        return rational(total, power) if power else total

    def _keep(self, group: tuple[Any, ...], values: list[Any]) -> bool:
        return self._having is None or self._having(group, values) is True

    def _type(self, place: int) -> pa.DataType:
        """The type of a lane's attribute."""
        attribute = self._query.lanes[place].attribute
        return self._types.get(attribute, pa.null()) if attribute else pa.int64()

    def _is_whole(self, measure: Measure) -> bool:
        if measure.function.result is ResultKind.SUM:
            return measure.lanes[0] not in self._fractional
        return measure.function.result is ResultKind.COUNT

    # ---- columns ---------------------------------------------------------------------------

    def _bounds(self, windows: list[int], clock: TimeCodec | None) -> dict[str, pa.Array]:
        start, end = self._query.window.bounds(windows, clock)
        return {"window_start": start, "window_end": end}

    def _column(self, column: OutputColumn, rows: list[Row]) -> dict[str, pa.Array]:
        if column.group is not None:
            place = self._query.group_by.index(column.group)
            values = [group[place] for _, group, _ in rows]
            return {column.name: pa.array(values, self._types.get(column.group, pa.null()))}
        assert column.measure is not None
        measure = self._query.measures[column.measure]
        values = [values[column.measure] for _, _, values in rows]
        if measure.returns_attribute:
            return {column.name: pa.array(values, self._type(measure.lanes[0]))}
        if self._exact and self._is_whole(measure):
            return {column.name: pa.array(map(_text, values), pa.string())}
        return _doubles(column.name, values)


def _text(value: int | Fraction | None) -> str | None:
    return None if value is None else decimal_text(int(value))


def _doubles(name: str, values: list[Any]) -> dict[str, pa.Array]:
    """Doubles; a second column has the logarithms of those beyond their range."""
    rounded = [None if value is None else as_double(value) for value in values]
    columns = {name: pa.array(rounded, pa.float64())}
    beyond = [value is not None and math.isinf(value) for value in rounded]
    if any(beyond):
        logs = [log2(value) if far else None for value, far in zip(values, beyond, strict=True)]
        columns[f"{name}_log2"] = pa.array(logs, pa.float64())
    return columns


def _having(query: Query) -> Function | None:
    """HAVING over (group values, measure values)."""
    if query.having is None:
        return None
    columns = {column.name: column for column in query.columns}
    places = {measure.text: place for place, measure in enumerate(query.measures)}

    def leaf(node: s.Expression) -> Function:
        if isinstance(node, s.Aggregate):
            place = places[str(node)]
            return lambda _, values: values[place]
        assert isinstance(node, s.Column)
        column = columns[node.name]
        if column.group is not None:
            at = query.group_by.index(column.group)
            return lambda group, _: group[at]
        place = column.measure if column.measure is not None else 0
        return lambda _, values: values[place]

    return compile_expression(query.having, leaf, Fraction)
