"""Converts the values of a tagged JSON document to the types of columns, as Spark SQL.

A token is the text of a value: a string after `~`, a whole number as its digits, `true`, or
something else that Jackson writes: a fraction, an object, an array.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from runtime.io.json_types import LONGEST_WHOLE, whole_range
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.json_document import STRING
from spark_ingest.pipeline.text_values import TextValue, text_value

_WHOLE = rf"\A-?[0-9]{{1,{LONGEST_WHOLE}}}\z"
_NUMBER = r"\A(?:-?[0-9]|-?Infinity\z)"
_HALF = 2**63


def token(fields: str, name: str) -> str:
    """A field of a tagged document, from the map of its fields; null if it is absent, null or NaN.
    Jackson writes numbers that JSON does not have in quotes."""
    value = f"try_element_at({fields}, {sql.text(STRING + name)})"
    bare = f"""nullif(replace({value}, '"', ''), 'NaN')"""
    return f"""if(startswith({value}, '"'), {bare}, {value})"""


def is_repeated(fields: str, name: str) -> str:
    """Whether the map of the fields of a tagged document has one more than once."""
    same = f"key -> key = {sql.text(STRING + name)}"
    return f"(size(filter(map_keys({fields}), {same})) > 1)"


def value_of(token: str, target: pa.DataType, only_text: bool) -> TextValue:
    """The value of a token as a type of an event."""
    if pt.is_null(target):
        return TextValue("CAST(NULL AS STRING)")
    if pt.is_integer(target):
        return _whole(token, target)
    if pt.is_floating(target):
        number = single(_double(token)) if pt.is_float32(target) else _double(token)
        return TextValue(number, _unlike(token, _is_number(token)))
    if pt.is_boolean(target):
        return TextValue(f"({token} = 'true')", _unlike(token, _is_boolean(token)))
    if not pt.is_string(target):
        return text_value(_text_of(token), target)
    fits = _is_string(token)
    if not only_text:
        fits = f"({fits} OR {_is_whole(token)} OR {_is_boolean(token)})"
    return TextValue(_text_of(token), _unlike(token, fits))


def _text_of(token: str) -> str:
    """The text of a string or of another value."""
    return f"if({_is_string(token)}, substring({token}, {len(STRING) + 1}), {token})"


def single(number: str) -> str:
    """A double with the precision of a float of 32 bits."""
    return f"CAST(CAST({number} AS FLOAT) AS DOUBLE)"


def is_in_range(number: str, target: pa.DataType) -> str:
    """Whether a number is in the range of a type of whole numbers."""
    least, most = whole_range(target)
    return f"coalesce({number} BETWEEN {least} AND {most}, false)"


def _whole(token: str, target: pa.DataType) -> TextValue:
    """A whole number, which may be written as a fraction without a remainder."""
    digits = f"TRY_CAST({token} AS DECIMAL(38, 0))"
    number = f"if({_is_whole(token)}, {digits}, {_exact(_double(token))})"
    inside = is_in_range(number, target)
    type_ = "DECIMAL(20, 0)" if pt.is_uint64(target) else "BIGINT"
    whole = f"({_is_whole(token)} OR ({_is_number(token)} AND {_double(token)} % 1 = 0))"
    return TextValue(
        f"if({inside}, TRY_CAST({number} AS {type_}), NULL)",
        _unlike(token, whole),
        f"({token} IS NOT NULL AND NOT {inside})",
    )


def _exact(double: str) -> str:
    """A double without a fraction as a decimal of all its digits; null beyond 64 bits. Spark's own
    cast of a double to a decimal keeps 17 digits."""
    low = f"CAST(TRY_CAST({double} AS BIGINT) AS DECIMAL(38, 0))"
    high = f"(CAST(TRY_CAST({double} - {_HALF}D AS BIGINT) AS DECIMAL(38, 0)) + {_HALF})"
    cases = [(f"{double} < {-_HALF}D", "NULL"), (f"{double} < {_HALF}D", low)]
    return sql.first_of([*cases, (f"{double} < {2 * _HALF}D", high)], "NULL")


def _double(token: str) -> str:
    return f"TRY_CAST({token} AS DOUBLE)"


def _is_string(token: str) -> str:
    return f"startswith({token}, '{STRING}')"


def _is_whole(token: str) -> str:
    return f"{token} RLIKE {sql.text(_WHOLE)}"


def _is_number(token: str) -> str:
    return f"{token} RLIKE {sql.text(_NUMBER)}"


def _is_boolean(token: str) -> str:
    return f"{token} IN ('true', 'false')"


def _unlike(token: str, fits: str) -> str:
    return f"NOT coalesce({fits}, {token} IS NULL)"
