"""The contract of an input: what makes a row an event, and the closed list of reasons why not.

It is evaluated twice: by Spark as column expressions (`spark_ingest/pipeline`), and in one process
by Arrow (`runtime/io`, `runtime/pipeline/normalize`). Both report the first reason that holds, in
this order: the text of the row, then its columns by name, then time, type, and infinite values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from runtime.types.columns import Micros

# A fault is a reason, and a column or a count that the reason is about, in one number.
_REASONS = 256


class Reason(IntEnum):
    """Why a row is not an event. The numbers are part of the blocks that Spark exports."""

    VALID = 0
    # The text of the row.
    NOT_UTF8 = 1
    MALFORMED_JSON = 2
    NOT_AN_OBJECT = 3
    REPEATED_KEY = 4  #: of a column
    FIELD_COUNT = 5  #: has the number of fields
    OPEN_QUOTE = 6
    MISQUOTED = 7
    # The value of a Kafka record.
    TOMBSTONE = 8
    NO_CONFLUENT_HEADER = 9
    NOT_AVRO = 10
    AFTER_AVRO = 11
    # A column.
    WRONG_TYPE = 12
    OUT_OF_RANGE = 13
    NOT_TEXT = 14
    # The event.
    NO_TIME = 15
    INVALID_TIME = 16
    TIME_OUT_OF_RANGE = 17
    NO_TYPE = 18
    INFINITE = 19  #: a column
    #: The row is an event, but behind the watermark.
    LATE = 20

    def fault(self, detail: int = 0) -> int:
        """The number of this reason with the place of a column, or with a count."""
        return self + _REASONS * detail


_TEXTS: Mapping[Reason, str] = {
    Reason.NOT_UTF8: "the row is not UTF-8",
    Reason.MALFORMED_JSON: "malformed JSON",
    Reason.NOT_AN_OBJECT: "malformed JSON: not an object",
    Reason.REPEATED_KEY: "malformed JSON: more than one `{column}`",
    Reason.FIELD_COUNT: "fields: {count}, not {expected}",
    Reason.OPEN_QUOTE: "a quote is not closed before the end",
    Reason.MISQUOTED: "text follows a closing quote",
    Reason.TOMBSTONE: "the value is null (a tombstone)",
    Reason.NO_CONFLUENT_HEADER: (
        "the value has no Confluent header (a zero and four bytes of schema id)"
    ),
    Reason.NOT_AVRO: "the value is not Avro of this schema",
    Reason.AFTER_AVRO: "extra bytes follow the Avro value",
    Reason.WRONG_TYPE: "`{column}` is not {noun}",
    Reason.OUT_OF_RANGE: "`{column}` is beyond a 64-bit integer",
    Reason.NOT_TEXT: "`{column}` is not UTF-8",
    Reason.NO_TIME: "the time is null",
    Reason.INVALID_TIME: "the time is not valid",
    Reason.TIME_OUT_OF_RANGE: "the time is out of range",
    Reason.NO_TYPE: "the type is null",
    Reason.INFINITE: "`{column}` is infinite",
    Reason.LATE: "the time is behind the watermark",
}

_INFERRED = " (its type was inferred from the first rows; --schema can declare it)"


def reason_text(reason: Reason, **about: object) -> str:
    """The text of a reason for a dead letter."""
    return _TEXTS[reason].format(**about)


@dataclass(frozen=True)
class EventContract:
    """The columns that a workload reads of an input, by name, and their types.

    Types of the columns in `inferred` are a guess from the first rows. In JSON, the columns in
    `only_text` hold no numbers and booleans; other text columns hold them as text.
    """

    columns: pa.Schema
    inferred: frozenset[str] = frozenset()
    only_text: frozenset[str] = frozenset()
    places: Mapping[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        ordered = pa.schema(sorted(self.columns, key=lambda each: each.name))
        object.__setattr__(self, "columns", ordered)
        object.__setattr__(self, "places", {name: n for n, name in enumerate(ordered.names)})

    def restricted_to(self, names: Sequence[str]) -> EventContract:
        """The contract of these columns alone. Their faults keep their numbers."""
        columns = pa.schema([self.columns.field(name) for name in names])
        part = replace(self, columns=columns)
        object.__setattr__(part, "places", self.places)
        return part

    def fault(self, reason: Reason, column: str) -> int:
        """The number of a reason that is about a column."""
        return reason.fault(self.places[column])

    def text(self, fault: int, expected: int | None = None) -> str:
        """The text of a fault. `expected` is how many fields a row has."""
        detail, number = divmod(fault, _REASONS)
        names = self.columns.names
        column = names[detail] if detail < len(names) else ""
        return reason_text(
            Reason(number),
            column=column,
            noun=self.noun(column),
            count=detail,
            expected=expected,
        )

    def noun(self, column: str) -> str:
        """What the values of a column are."""
        if column not in self.places:
            return ""
        guess = _INFERRED if column in self.inferred else ""
        return noun_of(self.columns.field(column).type) + guess


def late_reasons(times: Micros, watermark: int) -> list[str]:
    """The reasons of events at these times, which are behind the watermark."""
    shown = _iso_time(watermark)
    return [
        f"{by:.6g} s behind the watermark {shown}" for by in ((watermark - times) / 1e6).tolist()
    ]


def _iso_time(micros: int) -> str:
    try:
        return str(np.datetime64(micros, "us"))
    except ValueError:
        return f"{micros} us"


def noun_of(data_type: pa.DataType) -> str:
    if pt.is_integer(data_type):
        return "a whole number"
    if pt.is_floating(data_type):
        return "a number"
    if pt.is_boolean(data_type):
        return "a boolean"
    return "text" if pt.is_string(data_type) else f"of type {data_type}"
