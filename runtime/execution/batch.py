"""A batch of events as operators read it: columns of numbers, each computed on first use.

Events are ordered by (time, arrival). A batch lives as long as one call of `process`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.column import Doubles, Ints, Mask, MaskedColumn, whole_order
from runtime.execution.event_counter import EventCounter, EventOrdinals
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.predicate import truth
from runtime.execution.simultaneous import GroupFinder, SimultaneousGroups
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.language import ast as s
from runtime.language.aggregates import LaneInput
from runtime.language.canonical import canonical
from runtime.types.columns import TYPE, times_of

Small = npt.NDArray[np.int32]

# Kernels sum the values of several events as doubles; with this limit the sum stays finite.
LARGEST_POWER = 2.0**960


@dataclass
class Batch:
    """Events with equal `instants` (times or arrivals) can never be adjacent in a trend.
    `type_codes[type_places[i]]` is the code of event i's type."""

    size: int
    times: Ints
    instants: Ints
    slots: Small
    type_places: Small
    type_codes: Small
    capacity: int  #: all slots are below it
    _columns: Mapping[str, pa.Array]
    _texts: TextDictionary
    _ties: GroupFinder
    _cells: dict[str, MaskedColumn] = field(default_factory=dict)
    _numbers: dict[str, Doubles] = field(default_factory=dict)
    _lane_values: dict[LaneInput, Doubles] = field(default_factory=dict)
    _orders: dict[str, tuple[Ints, Mask]] = field(default_factory=dict)
    _truths: dict[s.Expression, Mask] = field(default_factory=dict)
    _ordinals: dict[int, EventOrdinals] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        events: pa.RecordBatch,
        keys: PartitionIndex,
        codes: TypeDictionary,
        texts: TextDictionary,
        types: Mapping[str, pa.DataType],
        instants: Ints | None = None,
        ties: GroupFinder | None = None,
    ) -> Batch:
        """`types` are those of the attributes; an attribute that the events lack is all null.
        Without `instants`, equal times are one instant."""
        times = times_of(events)
        type_codes, places = codes.encoded(events.column(TYPE))
        slots = keys.slots(events)
        return cls(
            size=events.num_rows,
            times=times,
            instants=times if instants is None else instants,
            slots=slots,
            type_places=places,
            type_codes=type_codes,
            capacity=keys.top,
            _columns=_Columns(events, types),
            _texts=texts,
            _ties=ties or GroupFinder(),
        )

    @cached_property
    def types(self) -> Small:
        """The code of each event's type."""
        return self.type_codes[self.type_places]

    @cached_property
    def groups(self) -> SimultaneousGroups:
        """The events of one partition and instant, which are never adjacent in a trend."""
        return self._ties.groups(self.instants, self.slots, self.capacity)

    def ordinals(self, counter: EventCounter) -> EventOrdinals:
        """The ordinals of the events in their partitions. Every batch is counted once."""
        if counter.since not in self._ordinals:
            self._ordinals[counter.since] = counter.count(self.times, self.slots, self.capacity)
        return self._ordinals[counter.since]

    def number(self, name: str) -> Doubles:
        """The attribute as doubles, NaN for null."""
        if name not in self._numbers:
            self._numbers[name] = self.cells(name).doubles()
        return self._numbers[name]

    def lane_values(self, given: LaneInput) -> Doubles:
        """The value that each event adds to a sum, NaN for null."""
        if given not in self._lane_values:
            self._lane_values[given] = self._power(given)
        return self._lane_values[given]

    def _power(self, given: LaneInput) -> Doubles:
        if given.attribute is None:
            return np.ones(self.size)
        values = self.number(given.attribute)
        if given.power == 1:
            return values
        if given.is_count:
            return np.where(np.isnan(values), np.nan, 1.0)
        with np.errstate(over="ignore"):
            powers: Doubles = np.clip(values**given.power, -LARGEST_POWER, LARGEST_POWER)
        return powers

    def order(self, name: str) -> tuple[Ints, Mask]:
        """The attribute as integers of the same order, and a mask of the non-null rows. Text
        becomes its ids in `TextDictionary`, which `TextDictionary.ranks` orders."""
        if name not in self._orders:
            cells = self.cells(name)
            whole = self._texts.ids(cells.values) if cells.is_arrow else whole_order(cells.values)
            self._orders[name] = whole, cells.mask(self.size)
        return self._orders[name]

    def truth(self, expression: s.Expression) -> Mask:
        """A mask of the events for which a condition is true; unknown is not true."""
        condition = canonical(expression)
        if condition not in self._truths:
            self._truths[condition] = truth(condition, self._leaf, self.size)
        return self._truths[condition]

    def cells(self, name: str) -> MaskedColumn:
        if name not in self._cells:
            self._cells[name] = MaskedColumn.of(self._columns[name])
        return self._cells[name]

    def _leaf(self, leaf: s.Expression) -> MaskedColumn:
        assert isinstance(leaf, s.Attribute)
        return self.cells(leaf.name)


class _Columns(dict[str, pa.Array]):
    """The attributes of a batch. One that only a removed query used is no longer read and null."""

    def __init__(self, events: pa.RecordBatch, types: Mapping[str, pa.DataType]) -> None:
        super().__init__()
        self._events = events
        self._types = types

    def __missing__(self, name: str) -> pa.Array:
        if name in self._events.schema.names:
            return self._events.column(name)
        return pa.nulls(self._events.num_rows, self._types.get(name, pa.null()))
