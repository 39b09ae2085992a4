"""The kinds of attributes (number, text, boolean) and the Arrow types of each."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa
import pyarrow.types as pt


class AttributeKind(Enum):
    NUMBER = "a number"
    TEXT = "text"
    BOOL = "a boolean"
    ANY = "anything"


def kind_of(data_type: pa.DataType) -> AttributeKind:
    """The kind of a column of this Arrow type; ANY if values only support equality."""
    if isinstance(data_type, pa.BaseExtensionType):
        return kind_of(data_type.storage_type)
    if is_encoded(data_type):
        return kind_of(data_type.value_type)
    if pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_decimal(data_type):
        return AttributeKind.NUMBER
    if is_text(data_type):
        return AttributeKind.TEXT
    if pt.is_boolean(data_type):
        return AttributeKind.BOOL
    return AttributeKind.ANY


def fits(data_type: pa.DataType, use: AttributeKind) -> bool:
    """Whether a column of this type supports the use. A column of nulls supports every use."""
    if pt.is_null(data_type):
        return True
    if isinstance(data_type, pa.BaseExtensionType):
        return fits(data_type.storage_type, use)
    if is_encoded(data_type):
        return fits(data_type.value_type, use)
    if use is AttributeKind.ANY:
        return not (pt.is_nested(data_type) or pt.is_interval(data_type))
    return kind_of(data_type) is use


def is_text(data_type: pa.DataType) -> bool:
    return bool(
        pt.is_string(data_type) or pt.is_large_string(data_type) or pt.is_string_view(data_type)
    )


def is_encoded(data_type: pa.DataType) -> bool:
    """Whether the type is an encoding of another type, such as a dictionary."""
    return bool(pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type))
