"""Compiles adjacent conditions to small programs for `predicate_vm.py`.

One kernel runs all programs, so no query needs its own machine code. A program is a list of
instructions `(op, to, a, b, c)` over numbered registers, each with a word (an integer, or the bits
of a double) and a null flag. The kinds of values are known when compiling; the ids of texts are not
and are filled in for each batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from runtime.language import ast as s

# Kinds of values. HIGH: uint64 with the top bit flipped; TEXT: ids that order by rank.
WHOLE, HIGH, DOUBLE, TEXT = range(4)

(
    KEPT,
    LATER,
    CONSTANT,
    NULL,
    TO_DOUBLE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MODULO,
    NEGATE,
    COMPARE,
    AND,
    OR,
    NOT,
    IS_NULL,
) = range(16)

SYMBOLS = ("=", "!=", "<", "<=", ">", ">=")
_ARITHMETIC = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "%": MODULO}
_INT64 = range(-(2**63), 2**63)


def kind_of(data_type: pa.DataType) -> int:
    """The kind of the values that `Batch.order` or `Batch.number` returns for a column."""
    if pt.is_floating(data_type):
        return DOUBLE
    if pt.is_uint64(data_type):
        return HIGH
    small = pt.is_temporal(data_type) and data_type.bit_width <= 64
    if small or pt.is_integer(data_type) or pt.is_boolean(data_type) or pt.is_null(data_type):
        return WHOLE
    return TEXT


@dataclass
class Programs:
    """The instructions of all conditions of a query. `places` numbers the attributes."""

    places: Mapping[str, int]
    kinds: Mapping[str, int]
    code: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    """Which instructions load the id of which text."""

    def add(self, expression: s.Expression) -> tuple[int, int]:
        """The start and end of the program of a condition. Its result is in register 0."""
        start = len(self.code)
        _Compiler(self).value(expression, 0)
        return start, len(self.code)

    @property
    def registers(self) -> int:
        return max((instruction[1] for instruction in self.code), default=0) + 2

    def table(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return np.array(self.code, np.int64).reshape(-1, 5)


class _Compiler:
    """Puts the value of each part into a register; the registers above are free for its parts."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def value(self, part: s.Expression, to: int) -> int:
        """Emits the code of a part and returns its kind."""
        match part:
            case s.Literal(value):
                return self._literal(value, to)
            case s.Attribute():
                return self._attribute(part, to)
            case s.Compare(symbol, left, right):
                return self._compare(symbol, left, right, to)
            case s.OneOf(body, values):
                listed = [s.Compare("=", body, v) for v in values if v.value is not None]
                never = s.Compare("!=", body, body)  # unknown of a null, as `IN` is
                return self._joined(OR, tuple(listed) or (never,), to)
            case s.AllOf(parts):
                return self._joined(AND, parts, to)
            case s.AnyOf(parts):
                return self._joined(OR, parts, to)
            case s.Invert(body):
                self.value(body, to)
                self._emit(NOT, to, to)
            case s.IsNull(body):
                self.value(body, to)
                self._emit(IS_NULL, to, to)
            case s.Arithmetic(symbol, left, right):
                self._double(left, to)
                self._double(right, to + 1)
                self._emit(_ARITHMETIC[symbol], to, to, to + 1)
                return DOUBLE
            case s.Negative(body):
                self._double(body, to)
                self._emit(NEGATE, to, to)
                return DOUBLE
            case _:
                raise AssertionError(f"{part} cannot stand in a condition on events")
        return WHOLE

    def _emit(self, op: int, to: int, a: int = 0, b: int = 0, c: int = 0) -> None:
        self._programs.code.append((op, to, a, b, c))

    def _literal(self, value: s.Value, to: int) -> int:
        if value is None:
            self._emit(NULL, to)
            return WHOLE
        if isinstance(value, str):
            self._programs.texts.append((len(self._programs.code), value))
            self._emit(CONSTANT, to)
            return TEXT
        if isinstance(value, int) and value in _INT64:
            self._emit(CONSTANT, to, int(value))
            return WHOLE
        self._emit(CONSTANT, to, int(np.float64(_nearest(value)).view(np.int64)))
        return DOUBLE

    def _attribute(self, attribute: s.Attribute, to: int) -> int:
        place = self._programs.places[attribute.name]
        kind = self._programs.kinds[attribute.name]
        self._emit(LATER if attribute.next else KEPT, to, place)
        return kind

    def _compare(self, symbol: str, left: s.Expression, right: s.Expression, to: int) -> int:
        one = self.value(left, to)
        other = self.value(right, to + 1)
        self._emit(COMPARE, to, SYMBOLS.index(symbol), one, other)
        return WHOLE

    def _joined(self, op: int, parts: tuple[s.Expression, ...], to: int) -> int:
        """Three-valued AND and OR do not depend on the order of their parts."""
        self.value(parts[0], to)
        for part in parts[1:]:
            self.value(part, to + 1)
            self._emit(op, to, to, to + 1)
        return WHOLE

    def _double(self, part: s.Expression, to: int) -> None:
        kind = self.value(part, to)
        if kind != DOUBLE:
            self._emit(TO_DOUBLE, to, to, kind)


def _nearest(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
