"""Evaluates HAVING over merged rows.

Columns are evaluated in doubles. The few rows whose numbers are so large that a double could
overflow are evaluated one by one in rational numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.column import Mask, MaskedColumn
from runtime.execution.finalize import extreme_of, numbers_of
from runtime.execution.predicate import truth
from runtime.execution.wide_float import STEP
from runtime.execution.wide_float_column import WideFloatColumn
from runtime.execution.window_partials import PartialAggregates
from runtime.language import ast as s
from runtime.language.query import Query
from runtime.language.row_eval import Function, compile_expression

# The product of three such numbers is still a finite double.
_SAFE = 2.0**300


class Having:
    def __init__(self, query: Query, types: Mapping[str, pa.DataType]) -> None:
        assert query.having is not None
        self._query = query
        self._types = types
        self._expression = query.having
        self._columns = {column.name: column for column in query.columns}
        self._places = {measure.text: place for place, measure in enumerate(query.measures)}
        self._leaves = [
            node for node in s.walk(query.having) if isinstance(node, s.Aggregate | s.Column)
        ]

    def keeps(self, block: PartialAggregates) -> Mask:
        """A mask of the rows that meet the condition."""
        numbers = {leaf: self._numbers(leaf, block) for leaf in self._leaves}
        kept = truth(self._expression, lambda leaf: self._cells(leaf, block, numbers), len(block))
        kept = kept.copy()  # a result of Arrow is read-only
        large = np.zeros(len(block), np.bool_)
        for found in numbers.values():
            if found is not None:
                large |= (found[0].exponent > 0) | (np.abs(found[0].mantissa) > _SAFE)
        if large.any():
            rows = np.flatnonzero(large)
            kept[rows] = self._in_rationals(block.take(rows))
        return kept

    def _measure(self, leaf: s.Expression) -> int | None:
        if isinstance(leaf, s.Aggregate):
            return self._places[str(leaf)]
        assert isinstance(leaf, s.Column)
        return self._columns[leaf.name].measure

    def _numbers(
        self, leaf: s.Expression, block: PartialAggregates
    ) -> tuple[WideFloatColumn, Mask | None] | None:
        """The numbers of an aggregate, or None if it is a value of an attribute."""
        place = self._measure(leaf)
        if place is None or self._query.measures[place].returns_attribute:
            return None
        return numbers_of(block, self._query.measures[place])

    def _cells(
        self,
        leaf: s.Expression,
        block: PartialAggregates,
        numbers: Mapping[Any, tuple[WideFloatColumn, Mask | None] | None],
    ) -> MaskedColumn:
        found = numbers[leaf]
        if found is None:
            return MaskedColumn.of(self._column(leaf, block))
        return MaskedColumn(found[0].doubles(), found[1])

    def _column(self, leaf: s.Expression, block: PartialAggregates) -> pa.Array:
        place = self._measure(leaf)
        if place is None:
            assert isinstance(leaf, s.Column)
            group = self._columns[leaf.name].group
            assert group is not None
            return block.groups[self._query.group_by.index(group)]
        measure = self._query.measures[place]
        attribute = self._query.lanes[measure.lanes[0]].attribute
        assert attribute is not None
        return extreme_of(block, measure, self._types.get(attribute, pa.null()))

    def _in_rationals(self, block: PartialAggregates) -> npt.NDArray[np.bool_]:
        values = {leaf: self._exact(leaf, block) for leaf in self._leaves}

        def leaf(node: s.Expression) -> Function:
            column = values[node]  # type: ignore[index]
            return lambda row, _: column[row]

        holds = compile_expression(self._expression, leaf, Fraction)
        return np.array([holds(row, row) is True for row in range(len(block))], np.bool_)

    def _exact(self, leaf: s.Expression, block: PartialAggregates) -> list[Any]:
        found = self._numbers(leaf, block)
        if found is None:
            cells = MaskedColumn.of(self._column(leaf, block))
            listed = cells.values.to_pylist() if cells.is_arrow else cells.values.tolist()
            valid = cells.mask(len(block)).tolist()
            return [value if there else None for value, there in zip(listed, valid, strict=True)]
        numbers, valid_numbers = found
        there = np.ones(len(block), np.bool_) if valid_numbers is None else valid_numbers
        rows = zip(
            numbers.mantissa.tolist(), numbers.exponent.tolist(), there.tolist(), strict=True
        )
        return [Fraction(m) * (1 << STEP * e) if ok else None for m, e, ok in rows]
