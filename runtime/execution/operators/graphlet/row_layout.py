"""The sizes of a share group's row, and the value of an event that each lane aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from runtime.execution.operators.graphlet.batch_order import SMALL_ROW
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.execution.type_dictionary import TypeDictionary
from runtime.language.query import Lane
from runtime.plan.operators.graphlet.layout import GraphletLayout
from runtime.plan.operators.graphlet.row_width import mins_of, sums_of

SHAPE = ("ATTRS", "MINS", "LANES", "BUFFERS", "SLIDING", "PARTS", "ORDERED")


@dataclass(frozen=True)
class RowLayout(GraphletLayout):
    """A layout with the constants of its kernel."""

    @property
    def buffers(self) -> bool:
        return self.sharing == "never" or any(
            len(c) > 1 or any(c[0]) for c in self.conditions.values()
        )

    @cached_property
    def shape(self) -> dict[str, int]:
        """Constants of the kernel: minimal for this workload, or those of a general kernel."""
        most_sums = max(len(names) for names in self.sum_columns.values())
        most_mins = max(
            *(len(extremes) for extremes in self.extremes.values()),
            *(len(mins_of(query)) for query in self.queries),
            *(len(part.mins) for part in self.parts),
        )
        most_lanes = max(
            *(len(sums_of(query)) for query in self.queries),
            *(len(part.sums) for part in self.parts),
            0,
        )
        sliding = any(query.window.overlaps for query in self.queries)
        if self.exact:
            large = 8 * self.vectors_at[-1] >= SMALL_ROW
            flags = (self.buffers, sliding, bool(self.parts), large)
            sizes = (most_sums, most_mins, most_lanes, *flags)
        else:
            size = 4
            while size < max(most_sums, most_mins, -(-most_lanes // 2)):
                size *= 4
            sizes = (size, size, 2 * size, True, True, True, True)
        return dict(zip(SHAPE, sizes, strict=True))

    @cached_property
    def vectors_at(self) -> list[int]:
        """The start of the vectors of each row class's windows, counted from after the head."""
        return [
            int(n)
            for n in np.cumsum(
                [0, *(row_class.vectors * row_class.block for row_class in self.row_classes)]
            )
        ]

    def local(self, codes: TypeDictionary) -> npt.NDArray[np.int64]:
        """For each type code its index among this group's types, -1 for other types; the last
        element is for types that no query names."""
        places = {codes.code(type_): place for place, type_ in enumerate(self.types)}
        return np.array([*(places.get(code, -1) for code in range(len(codes))), -1], np.int64)

    def sum_part(self, type_: str, position: int, lane: Lane) -> int:
        if position not in lane.positions:
            return k.NOTHING
        column = lane.input.column
        if column is None:
            return k.EVENTS_OF
        return 2 + 2 * self.sum_columns[type_].index(column) + lane.input.is_count

    def min_part(self, type_: str, position: int, lane: Lane) -> int:
        if position not in lane.positions:
            return -1
        return self.extremes[type_].index((lane.attribute or "", lane.fold))
