"""Infers the types of JSON fields from the first objects, and converts values to them."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from runtime.io.cast import text_column
from runtime.io.reader import ReadRequest
from runtime.pipeline.event_contract import EventContract, Reason
from runtime.pipeline.row_errors import RowErrors
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.columns import Mask, cast_or_null, null_rows, plain_type

_NESTED = pa.struct([])
# A whole number of more digits counts as a fraction without end: Python does not convert it.
LONGEST_WHOLE = 4300
_BAD = object()
_BEYOND = object()


class Fields:
    """The kinds of values of each field, in the order in which fields appear."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = defaultdict(set)

    def add(self, objects: Iterable[Mapping[str, Any]]) -> None:
        for each in objects:
            for name, value in each.items():
                self._seen[name].add(_family(value))

    def __contains__(self, name: str) -> bool:
        return name in self._seen

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def type(self, name: str, use: AttributeKind | None) -> pa.DataType:
        """The type for the use if some value fits it, else the type of the values."""
        seen = self._seen[name] - {"null"}
        numbers = seen & {"int", "float"}
        if use is AttributeKind.NUMBER and numbers:
            return pa.float64() if "float" in seen else pa.int64()
        if use is AttributeKind.TEXT and "str" in seen:
            return pa.string()
        if use is AttributeKind.BOOL and "bool" in seen:
            return pa.bool_()
        return _common(seen, times=use is None)


def _common(seen: set[str], times: bool) -> pa.DataType:
    scalars = seen - {"nested"}
    if not scalars:
        return _NESTED if seen else pa.null()
    if scalars == {"int"}:
        return pa.int64()
    # As text, one fraction among whole times is an invalid row, not a column of fractions.
    if scalars == {"float"} or (scalars == {"int", "float"} and not times):
        return pa.float64()
    return pa.bool_() if scalars == {"bool"} else pa.string()


def _family(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"  # also beyond 64 bits: a double would lose digits
    if isinstance(value, float):
        return "float"
    return "str" if isinstance(value, str) else "nested"


def read_type(data_type: pa.DataType) -> pa.DataType:
    """The type in which Arrow reads the JSON; other types are parsed from text."""
    plain = plain_type(data_type)
    known = (pt.is_boolean, pt.is_int64, pt.is_uint64, pt.is_float64, pt.is_string, pt.is_null)
    is_decimal = pt.is_decimal(data_type)
    return plain if any(test(plain) for test in known) and not is_decimal else pa.string()


def whole_range(data_type: pa.DataType) -> tuple[int, int]:
    """The least and the most of a type of whole numbers."""
    bits = data_type.bit_width
    signed = pt.is_signed_integer(data_type)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def columns_of(
    objects: list[Mapping[str, Any]], target: pa.Schema, needs: ReadRequest, errors: RowErrors
) -> list[pa.Array]:
    """The columns of `target` from parsed objects; a value of another type is an error."""
    contract = needs.contract(target)
    columns = {}
    for wanted in contract.columns:
        only_text = wanted.name in contract.only_text
        values = [_value(each.get(wanted.name), wanted.type, only_text) for each in objects]
        errors.add_field(_which(values, _BAD), Reason.WRONG_TYPE, wanted.name, contract)
        errors.add_field(_which(values, _BEYOND), Reason.OUT_OF_RANGE, wanted.name, contract)
        good = [None if v is _BAD or v is _BEYOND else v for v in values]
        column = pa.array(good, read_type(wanted.type))
        columns[wanted.name] = cast_column(column, wanted, contract, errors)
    return [columns[name] for name in target.names]


def _which(values: list[Any], mark: object) -> Mask:
    return np.array([value is mark for value in values], dtype=np.bool_)


def cast_column(
    column: pa.Array, wanted: pa.Field, contract: EventContract, errors: RowErrors
) -> pa.Array:
    """The column in its final type, from the type in which it was read."""
    if column.type == wanted.type:
        return column
    if pt.is_integer(column.type) or pt.is_floating(column.type):
        narrow = cast_or_null(column, wanted.type)
        beyond = null_rows(narrow) & ~null_rows(column)
        errors.add_field(beyond, Reason.OUT_OF_RANGE, wanted.name, contract)
        return narrow
    return text_column(column, wanted, contract, errors)


def _value(value: Any, data_type: pa.DataType, only_text: bool) -> Any:
    if value is None or pt.is_null(data_type):
        return None
    if pt.is_integer(data_type):
        return _whole(value, *whole_range(data_type))
    if pt.is_floating(data_type):
        return _number(value)
    if pt.is_boolean(data_type):
        return value if isinstance(value, bool) else _BAD
    return _text(value, only_text)


def _whole(value: Any, least: int, most: int) -> Any:
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, int):
        return _BAD
    return value if least <= value <= most else _BEYOND


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _BAD
    try:
        return float(value)
    except OverflowError:  # an invalid event, but the right type
        return math.inf if value > 0 else -math.inf


def _text(value: Any, only_text: bool) -> Any:
    """A text, or the one way to write a whole number or a boolean. A fraction has many."""
    if isinstance(value, str):
        return value
    if only_text or not isinstance(value, int):
        return _BAD
    return json.dumps(value)
