"""Converts text to values as Spark SQL. The patterns of the contract admit a value to a cast: Spark
alone would read `1.5` as a whole number and `1d` as a number."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from runtime.types.text_patterns import BOOLEAN, DATE, ISO, NUMBER, WHOLE, whole_text
from spark_ingest.pipeline import sql

NEVER = "false"

# The steps from ISO 8601 to the one form that Spark reads in every session: with seconds, and UTC.
_TO_UTC = (
    (r"(\.[0-9]{6})[0-9]+", "$1"),  # no finer than microseconds
    (r"([ T].*?)(?:Z|[+-][0-9:]+)$", "$1"),
    (r"^[0-9-]{10}$", "$0 00"),
    (r"[ T][0-9]{2}$", "$0:00"),
    (r"[ T][0-9]{2}:[0-9]{2}$", "$0:00"),
    (r"$", "Z"),
)
_OFFSET = r"[ T].*([+-])([0-9]{2}):?([0-9]{2})?$"
_FINER_NOT_ZERO = r"\.[0-9]{6}[0-9]*[1-9]"


@dataclass(frozen=True)
class TextValue:
    """SQL of the value of a text (null where it has none), and of whether the text is `wrong` or
    spells a number `beyond` the range of its type. A null text has no value and is not wrong."""

    value: str
    wrong: str = NEVER
    beyond: str = NEVER


def text_value(text: str, target: pa.DataType) -> TextValue:
    """The value of `text`, an SQL expression of a string, as a type of an event."""
    if pt.is_string(target):
        return TextValue(text)
    if pt.is_uint64(target):
        return _whole(text, "DECIMAL(20, 0)", "BETWEEN 0 AND 18446744073709551615")
    if pt.is_integer(target):
        return _whole(text, "BIGINT", "IS NOT NULL")
    if pt.is_floating(target):
        return TextValue(f"TRY_CAST({text} AS DOUBLE)", _unlike(text, NUMBER))
    if pt.is_boolean(target):
        return TextValue(f"TRY_CAST({text} AS BOOLEAN)", _unlike(text, BOOLEAN))
    if pt.is_date(target):
        return _calendar(f"TRY_CAST({_if_like(text, DATE)} AS DATE)", text)
    if pt.is_timestamp(target):
        return iso_time(text)
    return TextValue("CAST(NULL AS STRING)", f"{text} IS NOT NULL")


def iso_time(text: str) -> TextValue:
    """A timestamp from ISO 8601. Without a zone it is UTC, whatever the session's zone is."""
    given = f"trim(BOTH ' \t' FROM {_if_like(text, ISO)})"
    local = given
    for pattern, replacement in _TO_UTC:
        local = f"regexp_replace({local}, {sql.text(pattern)}, {sql.text(replacement)})"
    sign, hours, minutes = (f"regexp_extract({given}, {sql.text(_OFFSET)}, {n})" for n in (1, 2, 3))
    ahead = f"TRY_CAST({hours} AS INT) * 60 + coalesce(TRY_CAST({minutes} AS INT), 0)"
    time = f"TRY_CAST({local} AS TIMESTAMP)"
    back = f"timestampadd(MINUTE, if({sign} = '-', 1, -1) * ({ahead}), {time})"
    return _calendar(f"if({sign} = '', {time}, {back})", text)


def is_finer(text: str) -> str:
    """Whether an ISO time has more digits than microseconds."""
    return f"coalesce({text} RLIKE {sql.text(_FINER_NOT_ZERO)}, false)"


def like(text: str, pattern: str) -> str:
    """Whether a text has nothing but a value of this pattern."""
    return f"{text} RLIKE {sql.text(whole_text(pattern))}"


def _whole(text: str, type_: str, within: str) -> TextValue:
    cast = f"TRY_CAST({text} AS {type_})"
    inside = f"coalesce({cast} {within}, false)"
    beyond = f"({text} IS NOT NULL AND NOT {inside})"
    return TextValue(f"if({inside}, {cast}, NULL)", _unlike(text, WHOLE), beyond)


def _calendar(cast: str, text: str) -> TextValue:
    """A day that does not exist (February 30) has the pattern of one, but no value."""
    return TextValue(cast, f"({text} IS NOT NULL AND {cast} IS NULL)")


def _unlike(text: str, pattern: str) -> str:
    return f"NOT coalesce({like(text, pattern)}, true)"


def _if_like(text: str, pattern: str) -> str:
    return f"if({like(text, pattern)}, {text}, NULL)"
