"""Evaluates conditions over whole columns.

The semantics are those of `language/row_eval.py`, which evaluates row by row: three-valued logic,
exact comparison of numbers of any types, arithmetic in doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.execution.column import Doubles, Mask, MaskedColumn
from runtime.execution.comparison import compare, compare_constant, is_one_of
from runtime.language import ast as s
from runtime.language.ast import MIRRORED
from runtime.language.row_eval import compile_expression

Leaf: TypeAlias = Callable[[s.Expression], MaskedColumn]
_LEAVES = (s.Attribute, s.Column, s.Aggregate)


@dataclass(frozen=True)
class Constant:
    """The same value in every row; None is null."""

    value: Any


Operand: TypeAlias = MaskedColumn | Constant


def truth(expression: s.Expression, leaf: Leaf, size: int) -> Mask:
    """A mask of the rows for which the expression is true. `leaf` returns the columns of
    attributes and aggregates."""
    result = _Evaluator(leaf, size).condition(expression)
    values: Mask = result.values
    return values if result.valid is None else values & result.valid


class _Evaluator:
    def __init__(self, leaf: Leaf, size: int) -> None:
        self._leaf = leaf
        self._size = size

    def condition(self, expression: s.Expression) -> MaskedColumn:
        """A column of booleans."""
        operand = self._operand(expression)
        return self._spread(operand) if isinstance(operand, Constant) else operand

    def _spread(self, constant: Constant) -> MaskedColumn:
        values = np.full(self._size, bool(constant.value))
        return MaskedColumn(
            values, np.zeros(self._size, np.bool_) if constant.value is None else None
        )

    def _operand(self, expression: s.Expression) -> Operand:
        if not any(isinstance(node, _LEAVES) for node in s.walk(expression)):
            return _constant(expression)
        match expression:
            case s.Compare(symbol, left, right):
                return self._compare(symbol, left, right)
            case s.OneOf(body, values):
                cells = self._cells(body)
                listed = frozenset(literal.value for literal in values)
                return MaskedColumn(is_one_of(cells.values, listed), cells.valid)
            case s.IsNull(body):
                return self._is_null(body)
            case s.Invert(body):
                inner = self.condition(body)
                return MaskedColumn(~inner.values, inner.valid)
            case s.AllOf(parts):
                return self._all_of(parts)
            case s.AnyOf(parts):
                return self._any_of(parts)
            case s.Arithmetic(symbol, left, right):
                return self._arithmetic(symbol, left, right)
            case s.Negative(body):
                cells = self._cells(body)
                return MaskedColumn(-cells.values.astype(np.float64), cells.valid)
            case s.Attribute() | s.Column() | s.Aggregate():
                return self._leaf(expression)
            case _:
                raise AssertionError(f"{expression} is not lowered")

    def _cells(self, expression: s.Expression) -> MaskedColumn:
        operand = self._operand(expression)
        if isinstance(operand, Constant):  # a value that is null in every row
            return self._spread(operand)
        return operand

    # ---- logic -----------------------------------------------------------------------------

    def _all_of(self, parts: Sequence[s.Expression]) -> MaskedColumn:
        """False if any part is false, otherwise unknown if any part is."""
        return self._combine(parts, np.logical_and, _where_false, decisive=False)

    def _any_of(self, parts: Sequence[s.Expression]) -> MaskedColumn:
        return self._combine(parts, np.logical_or, _where_true, decisive=True)

    def _combine(
        self,
        parts: Sequence[s.Expression],
        join: Any,
        decided_by: Callable[[MaskedColumn], Mask],
        *,
        decisive: bool,
    ) -> MaskedColumn:
        columns = [self.condition(part) for part in parts]
        if all(column.valid is None for column in columns):
            return MaskedColumn(join.reduce([column.values for column in columns]))
        decided = np.logical_or.reduce([decided_by(column) for column in columns])
        all_valid = np.logical_and.reduce([column.mask(self._size) for column in columns])
        return MaskedColumn(decided if decisive else ~decided, decided | all_valid)

    def _is_null(self, body: s.Expression) -> MaskedColumn:
        cells = self._cells(body)
        return MaskedColumn(np.zeros(self._size, np.bool_) if cells.valid is None else ~cells.valid)

    # ---- values ----------------------------------------------------------------------------

    def _compare(self, symbol: str, left: s.Expression, right: s.Expression) -> Operand:
        x, y = self._operand(left), self._operand(right)
        if isinstance(x, Constant):
            symbol, x, y = MIRRORED[symbol], y, x
        if isinstance(x, Constant):
            return Constant(None)  # only a null can replace a column
        if isinstance(y, Constant):
            if y.value is None:
                return y
            return MaskedColumn(compare_constant(symbol, x.values, y.value), x.valid)
        return MaskedColumn(compare(symbol, x.values, y.values), _both(x.valid, y.valid))

    def _arithmetic(self, symbol: str, left: s.Expression, right: s.Expression) -> Operand:
        x, y = self._operand(left), self._operand(right)
        one, other = _doubles(x), _doubles(y)
        if one is None or other is None:
            return Constant(None)
        valid = _both(_valid(x), _valid(y))
        with np.errstate(all="ignore"):
            values: Doubles = _ARITHMETIC[symbol](one, other)
        bad = np.isnan(values)
        if symbol == "/":
            bad |= other == 0
        return MaskedColumn(values, _both(valid, ~bad) if bad.any() else valid)


_ARITHMETIC: dict[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.remainder,
}


def _constant(expression: s.Expression) -> Constant:
    def no_leaf(part: s.Expression) -> Any:
        raise AssertionError(f"{part} is not a constant")

    return Constant(compile_expression(expression, no_leaf)(None, None))


def _doubles(operand: Operand) -> npt.NDArray[np.float64] | float | None:
    """Converted as by `float`; None if a constant is null or too large."""
    if isinstance(operand, MaskedColumn):
        numbers: Doubles = operand.values.astype(np.float64, copy=False)
        return numbers
    try:
        return None if operand.value is None else float(operand.value)
    except OverflowError:
        return None


def _valid(operand: Operand) -> Mask | None:
    return operand.valid if isinstance(operand, MaskedColumn) else None


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _where_true(cells: MaskedColumn) -> Mask:
    values: Mask = cells.values
    return values if cells.valid is None else values & cells.valid


def _where_false(cells: MaskedColumn) -> Mask:
    values: Mask = ~cells.values
    return values if cells.valid is None else values & cells.valid
