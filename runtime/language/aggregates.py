"""Declares the aggregate functions of the language: arguments, lanes and result kind of each.

A lane is a number that the operators keep besides the count of trends. To add a function, declare
it in `AGGREGATES`; `runtime/execution/finalize.py` computes the result from its lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from runtime.types.attribute_kinds import AttributeKind


class Fold(Enum):
    """How a lane combines: sums are linear in the count, MIN and MAX are not."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, order=True)
class LaneInput:
    """An event's contribution to a lane: the attribute's value to the power of `power`, or nothing
    if it is null. So power 0 counts values. Without an attribute it counts events."""

    attribute: str | None = None
    power: int = 0

    @property
    def is_count(self) -> bool:
        return self.power == 0

    @property
    def column(self) -> LaneInput | None:
        """The column of numbers to read. Operators that count values themselves read the values;
        counting events needs no column."""
        if self.attribute is None:
            return None
        return LaneInput(self.attribute, max(self.power, 1))


class Argument(Enum):
    """The kind of argument of a function."""

    EVENTS = "events"  # `*` or an event
    ATTRIBUTE = "attribute"


class ResultKind(Enum):
    """The kind of result of a function."""

    ATTRIBUTE = "attribute"  # a value of the attribute, in its own type
    COUNT = "count"  # a whole number
    SUM = "sum"  # a whole number if the attribute's values are
    REAL = "real"


@dataclass(frozen=True)
class AggregateFunction:
    """`lanes` are the fold and the power of each lane. `kind` is the kind of its input values."""

    name: str
    argument: Argument
    lanes: tuple[tuple[Fold, int], ...]
    result: ResultKind
    kind: AttributeKind = AttributeKind.NUMBER


_VALUES, _TOTAL, _SQUARES = (Fold.SUM, 0), (Fold.SUM, 1), (Fold.SUM, 2)

_DECLARED = (
    AggregateFunction("COUNT", Argument.EVENTS, (_VALUES,), ResultKind.COUNT),
    # Sums need the number of values too: the sum of nothing is null.
    AggregateFunction("SUM", Argument.ATTRIBUTE, (_TOTAL, _VALUES), ResultKind.SUM),
    AggregateFunction("MIN", Argument.ATTRIBUTE, ((Fold.MIN, 1),), ResultKind.ATTRIBUTE),
    AggregateFunction("MAX", Argument.ATTRIBUTE, ((Fold.MAX, 1),), ResultKind.ATTRIBUTE),
    AggregateFunction("AVG", Argument.ATTRIBUTE, (_TOTAL, _VALUES), ResultKind.REAL),
    AggregateFunction("VARIANCE", Argument.ATTRIBUTE, (_TOTAL, _VALUES, _SQUARES), ResultKind.REAL),
    AggregateFunction("STDDEV", Argument.ATTRIBUTE, (_TOTAL, _VALUES, _SQUARES), ResultKind.REAL),
)

#: The functions by name.
AGGREGATES = {function.name: function for function in _DECLARED}
